import {
  buildGraph,
  emulate,
  type FetchActivity,
  networkPosterior,
  type PageGraph,
  PROTOCOLS,
  type Protocol,
  type Recording,
  readPage,
  type UdpTreatment,
} from '@hopwise/pageload-emulator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FetchSketch, pageOf, pathOf, serverOf, uniform } from '../support/pages.ts';
import { recordLoad } from '../support/synthetic-loads.ts';

const ORIGINS = ['https://www.test', 'https://cdn.test', 'https://tag.test'];
const PATH = pathOf({ rttMs: 40, downBps: 20e6 });
const FILE_TYPES = ['script', 'style', 'image', 'font'] as const;

/** A document, some files that it names on three origins, and files that those lead to, with server times of their own. */
function drawnPage(files: number, chains: number): PageGraph {
  const fetches: FetchSketch[] = [
    { bytes: 20_000 },
    ...Array.from({ length: files }, (_, index) => ({ origin: index % 3, bytes: 9_000, after: [0] })),
    ...Array.from({ length: chains }, (_, index) => ({
      origin: (index + 1) % 3,
      bytes: 6_000,
      after: [1 + index],
    })),
  ];
  const page = pageOf(fetches, ORIGINS);
  for (const activity of page.activities as FetchActivity[]) {
    if (activity.id > 0) activity.type = FILE_TYPES[activity.id % FILE_TYPES.length]!;
    activity.thinkMs = activity.id === 0 ? 20 : 3;
  }
  return page;
}

function withServerTime(page: PageGraph, id: number, thinkMs: number): PageGraph {
  const activities = page.activities.map((activity) =>
    activity.id === id && activity.kind === 'fetch' ? { ...activity, thinkMs } : activity,
  );
  return { ...page, activities };
}

const SERVERS = ORIGINS.map((origin) => serverOf(origin));
const record = (page: PageGraph, protocol: Protocol): Recording =>
  recordLoad(page, PATH, SERVERS, uniform(page, protocol));

/** Load time by protocol as it is read from a recording. */
function timesOf(recording: Recording): Record<Protocol, number> {
  const graph = buildGraph(recording);
  const { path, servers } = networkPosterior(recording);
  const timeOf = (protocol: Protocol) =>
    emulate(graph, { ...path, loss: 0 }, servers, uniform(graph, protocol)).pltMs;
  return { h1: timeOf('h1'), h2: timeOf('h2'), h3: timeOf('h3') };
}

const drawn = fc.record({
  files: fc.integer({ min: 4, max: 12 }),
  chains: fc.integer({ min: 1, max: 3 }),
  recorded: fc.constantFrom(...PROTOCOLS),
  addedMs: fc.integer({ min: 500, max: 4_000 }),
});

describe("a server's time for a file of any type", () => {
  it('on the critical path adds about as much to the time under every protocol', () => {
    fc.assert(
      fc.property(drawn, fc.nat(), ({ files, chains, recorded, addedMs }, chosen) => {
        const page = drawnPage(files, chains);
        const before = timesOf(record(page, recorded));
        // One that others wait for, so that all of its time is added.
        const slow = withServerTime(page, 1 + (chosen % chains), addedMs);
        const after = timesOf(record(slow, recorded));
        for (const protocol of PROTOCOLS) {
          const gained = after[protocol] - before[protocol];
          // It was off the path by at most the rest of the load.
          expect(gained).toBeGreaterThan(0.9 * addedMs - 0.6 * before[protocol]);
          expect(gained).toBeLessThan(1.1 * addedMs + 0.1 * before[protocol]);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('off the critical path changes nothing', () => {
    fc.assert(
      fc.property(drawn, ({ files, chains, recorded, addedMs }) => {
        const page = withServerTime(drawnPage(files, chains), 1, 5_000);
        const before = timesOf(record(page, recorded));
        const after = timesOf(record(withServerTime(page, 1 + chains, addedMs), recorded));
        for (const protocol of PROTOCOLS)
          expect(Math.abs(after[protocol] / before[protocol] - 1)).toBeLessThan(0.03);
      }),
      { numRuns: 40 },
    );
  });

  it('leaves the differences between the protocols alone when it is scaled', () => {
    fc.assert(
      fc.property(drawn, fc.integer({ min: 2, max: 5 }), ({ files, chains, recorded, addedMs }, factor) => {
        const page = (thinkMs: number) => withServerTime(drawnPage(files, chains), 1, thinkMs);
        const before = timesOf(record(page(addedMs), recorded));
        const after = timesOf(record(page(factor * addedMs), recorded));
        for (const protocol of ['h1', 'h3'] as const) {
          const changed = after[protocol] - after.h2 - (before[protocol] - before.h2);
          // A tenth of the shorter load's time without the server.
          expect(Math.abs(changed)).toBeLessThan(0.1 * (before.h2 - addedMs) + 40);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('keeps every request below three times as long as it was recorded, under the same protocol and network', () => {
    fc.assert(
      fc.property(drawn, fc.nat(), ({ files, chains, recorded, addedMs }, chosen) => {
        const page = withServerTime(drawnPage(files, chains), 1 + (chosen % files), addedMs);
        const recording = record(page, recorded);
        const graph = buildGraph(recording);
        const { path, servers } = networkPosterior(recording);
        const { entries } = emulate(graph, { ...path, loss: 0 }, servers, uniform(graph, recorded), {
          waterfall: true,
        });
        for (const { requestId, startMs, endMs } of entries) {
          const own = recording.requests[requestId]!;
          expect(endMs - startMs).toBeLessThan(3 * (own.endMs - own.startMs) + 20);
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe('a wait that what happens to UDP alone explains', () => {
  const images = (count: number, origin: number, bytes: number): FetchSketch[] =>
    Array.from({ length: count }, () => ({ origin, bytes, after: [0] }));
  const page = pageOf([{ bytes: 60_000 }, ...images(30, 1, 25_000), ...images(10, 2, 8_000)], ORIGINS);

  it.each<UdpTreatment>([
    { kind: 'lossy', loss: 0.02 },
    { kind: 'lossy', loss: 0.045 },
    { kind: 'lossy', loss: 0.06 },
    { kind: 'policed', bps: 1e6 },
    { kind: 'policed', bps: 2e6 },
  ])('is no time of servers, and leaves the predictions over TCP right: %j', (udp) => {
    for (const rttMs of [40, 90]) {
      const path = pathOf({ rttMs, downBps: 50e6, udp });
      for (let seed = 1; seed <= 3; seed++) {
        const recording = recordLoad(page, path, SERVERS, uniform(page, 'h3'), seed);
        const { graph, network } = readPage(recording, { network: path });
        for (const protocol of ['h1', 'h2'] as const) {
          const assignment = uniform(page, protocol);
          const trueMs = emulate(page, path, SERVERS, assignment).pltMs;
          const readMs = emulate(graph, network.path, network.servers, assignment).pltMs;
          expect(Math.abs(readMs / trueMs - 1)).toBeLessThan(0.25);
        }
      }
    }
  });

  it('leaves the times of slow servers for bodies to them', () => {
    const slow = { origin: 2, bytes: 8_000, after: [0], bodyMs: 3_000 };
    const mixed = pageOf(
      [{ bytes: 60_000 }, slow, ...images(12, 1, 15_000), ...images(6, 0, 8_000)],
      ORIGINS,
    );
    for (const udp of [
      { kind: 'lossy', loss: 0.02 },
      { kind: 'policed', bps: 5e6 },
    ] as const) {
      const path = pathOf({ rttMs: 40, downBps: 50e6, udp });
      for (let seed = 1; seed <= 3; seed++) {
        const recording = recordLoad(mixed, path, SERVERS, uniform(mixed, 'h3'), seed);
        const { activities } = readPage(recording, { network: path }).graph;
        const read = activities.filter((each) => each.kind === 'fetch' && each.bodyMs !== undefined);
        expect(read.map(({ requestId }) => recording.requests[requestId]!.url)).toEqual([`${ORIGINS[2]}/1`]);
      }
    }
  });
});
