import { quantile } from '@hopwise/contract';
import {
  emulate,
  type NetworkPath,
  PROTOCOLS,
  type Protocol,
  type Recording,
  readPage,
} from '@hopwise/pageload-emulator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FetchActivity, PageGraph } from '../../src/graph/page-graph.ts';
import { type FetchSketch, pageOf, pathOf, serverOf, uniform } from '../support/pages.ts';
import { recordLoad } from '../support/synthetic-loads.ts';

const ORIGIN = 'https://a.test';
const SERVERS = [serverOf(ORIGIN)];
const HEADER_BYTES = 450;

/** A document, some files, and uploads one after the other, after which an image comes. */
function pageWith(bodies: readonly number[], thinkMs = 20): PageGraph {
  const fetches: FetchSketch[] = [
    { bytes: 20_000 },
    ...Array.from({ length: 6 }, () => ({ bytes: 9_000, after: [0] })),
    ...bodies.map((bytes, index) => ({
      bytes: 600,
      after: [index === 0 ? 1 : 6 + index],
      requestBytes: HEADER_BYTES + bytes,
    })),
    { bytes: 9_000, after: [6 + bodies.length] },
  ];
  const page = pageOf(fetches);
  for (const activity of page.activities as FetchActivity[]) {
    if (activity.id > 6 && activity.id <= 6 + bodies.length)
      Object.assign(activity, { type: 'fetch', thinkMs });
  }
  return page;
}

interface Recorded {
  recording: Recording;
  path: NetworkPath;
  plts: Record<Protocol, number>;
}

function record(page: PageGraph, upBps: number, recorded: Protocol, rttMs = 40): Recorded {
  const path = pathOf({ rttMs, downBps: 20e6, upBps });
  const recording = recordLoad(page, path, SERVERS, uniform(page, recorded));
  for (const request of recording.requests) {
    const own = page.activities.find((each) => each.kind === 'fetch' && each.url === request.url);
    const bytes = (own as FetchActivity).requestBytes - HEADER_BYTES;
    if (bytes > 0) Object.assign(request, { method: 'POST', requestBodyBytes: bytes });
  }
  const timeOf = (protocol: Protocol) => emulate(page, path, SERVERS, uniform(page, protocol)).pltMs;
  return { recording, path, plts: { h1: timeOf('h1'), h2: timeOf('h2'), h3: timeOf('h3') } };
}

const withoutBodies = (recording: Recording): Recording => ({
  ...recording,
  requests: recording.requests.map((request) => ({ ...request, requestBodyBytes: null })),
});

const upBpsOf = (recording: Recording): number => readPage(recording).network.path.upBps;

/** Error of the time expected under a protocol, as a fraction. */
function errorOf({ recording, plts }: Recorded, protocol: Protocol, known?: NetworkPath): number {
  const { graph, network } = readPage(recording, { network: known });
  const path = { ...network.path, loss: 0 };
  return Math.abs(emulate(graph, path, network.servers, uniform(graph, protocol)).pltMs / plts[protocol] - 1);
}

describe('requests with bodies', () => {
  it('show the upstream rate by the time to their answers, without a word of the recorder on sending', () => {
    for (const upMbps of [0.6, 1.5, 4]) {
      const { recording } = record(pageWith([60_000, 25_000, 90_000]), upMbps * 1e6, 'h2');
      expect(upBpsOf(recording) / (upMbps * 1e6)).toBeGreaterThan(0.75);
      expect(upBpsOf(recording) / (upMbps * 1e6)).toBeLessThan(2.5);
      // Without them it is a guess from the downstream rate.
      expect(Math.abs(Math.log(upBpsOf(recording) / (upMbps * 1e6)))).toBeLessThan(
        Math.abs(Math.log(upBpsOf(withoutBodies(recording)) / (upMbps * 1e6))),
      );
    }
  });

  it('show a slow uplink by the time that the browser took to write them, whatever their server takes', () => {
    const { recording } = record(pageWith([80_000], 3_000), 1e6, 'h1');
    const upload = recording.requests.find(({ requestBodyBytes }) => requestBodyBytes)!;
    // 56 packets of 12 ms, of which the system had buffered 20.
    const known = { ...upload, requestBodyMs: 36 * 12 };
    const requests = recording.requests.map((each) => (each === upload ? known : each));
    const offOf = (read: Recording) => Math.abs(Math.log(upBpsOf(read) / 1e6));
    expect(offOf({ ...recording, requests })).toBeLessThan(0.5 * offOf(recording));
    expect(offOf({ ...recording, requests })).toBeLessThan(Math.log(1.6));
  });

  it('that are answered before they arrived do not make the uplink fast', () => {
    const { recording } = record(pageWith([60_000, 25_000, 90_000, 40_000]), 1e6, 'h2');
    const refused = recording.requests.findLast(({ requestBodyBytes }) => requestBodyBytes)!;
    const responseStartMs = refused.phases.requestStartMs! + 41;
    const early = { ...refused, phases: { ...refused.phases, responseStartMs } };
    const requests = recording.requests.map((each) => (each === refused ? early : each));
    expect(upBpsOf({ ...recording, requests })).toBeLessThan(2.5e6);
  });

  it('are not counted as time of servers, so that they are not sent twice', () => {
    const uploads = fc.array(fc.integer({ min: 5_000, max: 100_000 }), { minLength: 1, maxLength: 4 });
    const errors = { known: [] as number[], read: [] as number[] };
    fc.assert(
      fc.property(
        uploads,
        fc.double({ min: 0.5, max: 8, noNaN: true }),
        fc.integer({ min: 10, max: 80 }),
        fc.constantFrom(...PROTOCOLS),
        (bodies, upMbps, rttMs, recorded) => {
          const load = record(pageWith(bodies), upMbps * 1e6, recorded, rttMs);
          for (const protocol of PROTOCOLS) {
            errors.known.push(errorOf(load, protocol, load.path));
            errors.read.push(errorOf(load, protocol));
          }
        },
      ),
      { numRuns: 40, seed: 1 },
    );
    for (const each of [errors.known, errors.read]) {
      expect(quantile(each, 0.5)).toBeLessThan(0.05);
      expect(quantile(each, 0.9)).toBeLessThan(0.15);
    }
  });
});
