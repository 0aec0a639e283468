import type { Recording } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { type NetworkPosterior, networkPosterior } from '../../src/estimate/network-posterior.ts';
import { drawNetworks } from '../../src/scenarios/draw-networks.ts';
import { pathOf } from '../support/pages.ts';
import { mostSeconds, processorSeconds } from '../support/processor-time.ts';
import { mixedAssignment, randomPage, randomServers, recordLoad } from '../support/synthetic-loads.ts';

function recorded(): Recording {
  const graph = randomPage(11);
  const load = recordLoad(
    graph,
    pathOf({ rttMs: 40, downBps: 10e6 }),
    randomServers(graph, 11),
    mixedAssignment(graph),
  );
  return structuredClone(load);
}

type Request = Recording['requests'][number];

/** Ways in which a recorder, a broken clock or an attacker may distort a recording's numbers. */
const CHANGES: [string, (request: Request, index: number) => void][] = [
  [
    'phases withheld',
    ({ phases }) => {
      for (const name of Object.keys(phases)) Object.assign(phases, { [name]: null });
    },
  ],
  [
    'phases and sizes withheld',
    (request) => {
      for (const name of Object.keys(request.phases)) Object.assign(request.phases, { [name]: null });
      request.transferBytes = request.bodyBytes = request.decodedBytes = null;
    },
  ],
  [
    'all times zero',
    (request) => {
      request.startMs = request.endMs = 0;
      for (const name of Object.keys(request.phases)) Object.assign(request.phases, { [name]: 0 });
    },
  ],
  [
    'negative times',
    (request) => {
      request.startMs -= 5_000;
      request.endMs -= 5_000;
      for (const [name, value] of Object.entries(request.phases)) {
        if (value !== null) Object.assign(request.phases, { [name]: value - 5_000 });
      }
    },
  ],
  [
    'phases in the wrong order',
    ({ phases }) => {
      phases.connectStartMs = 1_000;
      phases.secureStartMs = 500;
      phases.connectEndMs = 100;
      phases.requestStartMs = 50;
      phases.responseStartMs = 10;
    },
  ],
  [
    'a day between requests',
    (request, index) => {
      request.startMs += index * 86_400_000;
      request.endMs += index * 86_400_000;
    },
  ],
  [
    'huge times',
    (request) => {
      request.endMs = 1e15;
    },
  ],
  [
    'huge sizes',
    (request) => {
      request.transferBytes = request.bodyBytes = 1e15;
    },
  ],
  [
    'no sizes',
    (request) => {
      request.transferBytes = request.bodyBytes = 0;
    },
  ],
  [
    'all failed',
    (request) => {
      request.status = 0;
    },
  ],
  [
    'protocols unknown',
    (request) => {
      request.protocol = null;
    },
  ],
  [
    'all on one connection',
    (request) => {
      request.connectionId = '1';
      request.protocol = 'h2';
    },
  ],
];

describe('impossible timings', () => {
  it.each(CHANGES)('%s: still give, within the time limit, a network that can be emulated', (_, change) => {
    const recording = recorded();
    for (const [index, request] of recording.requests.entries()) change(request, index);
    let posterior!: NetworkPosterior;
    const seconds = processorSeconds(() => {
      posterior = networkPosterior(recording);
    });
    expect(seconds).toBeLessThan(2.5 * mostSeconds(seconds));
    for (const { path, servers } of drawNetworks(posterior, 12)) {
      for (const figure of ['rttMs', 'downBps', 'upBps', 'queueBytes'] as const) {
        expect(path[figure], figure).toBeGreaterThan(0);
        expect(path[figure], figure).toBeLessThan(1e12);
      }
      expect(path.loss).toBeGreaterThanOrEqual(0);
      expect(path.loss).toBeLessThanOrEqual(0.2);
      for (const { extraRttMs, thinkMs, dnsMs, openingDelayMs } of servers) {
        for (const ms of [extraRttMs, thinkMs, dnsMs ?? 0, openingDelayMs ?? 0])
          expect(ms).toBeGreaterThanOrEqual(0);
      }
    }
    const { open, policed, blocked } = posterior.udp;
    expect(open + policed + blocked).toBeCloseTo(1, 9);
    for (const { low, median, high } of Object.values(posterior.intervals)) {
      expect(low).toBeLessThanOrEqual(median);
      expect(median).toBeLessThanOrEqual(high);
    }
  });
});
