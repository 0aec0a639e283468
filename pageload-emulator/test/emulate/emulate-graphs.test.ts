/** Properties of every page, network and assignment, tested on random ones. */
import {
  type Activity,
  type Assignment,
  emulate,
  type NetworkPath,
  type PageGraph,
  type Protocol,
  type ServerProfile,
} from '@hopwise/pageload-emulator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countRuns } from '../../../scripts/suites/draw-share.ts';
import { assignment, clean, graph, load, ORIGINS, path, servers } from '../support/graphs.ts';
import { pageOf, pathOf, serverOf, uniform } from '../support/pages.ts';

/** Random pages are small and a run takes under a millisecond; a busy machine makes fewer runs. */
const RUNS = { numRuns: countRuns(80, 250), interruptAfterTimeLimit: 2_500 };

/** Rounding of sums of times. */
const EPSILON_MS = 1e-6;

const fetchesOf = ({ activities }: PageGraph) =>
  activities.flatMap((one) => (one.kind === 'fetch' ? [one] : []));

describe('every emulated load', () => {
  it('hands each byte to the page once', () => {
    fc.assert(
      fc.property(load, ({ graph, path, servers, assignment, seed }) => {
        const run = emulate(graph, path, servers, assignment, { seed, waterfall: true });
        const fetches = fetchesOf(graph);
        expect(run.bytes).toBe(fetches.reduce((sum, { responseBytes }) => sum + responseBytes, 0));
        expect(run.entries).toHaveLength(fetches.length);
        expect(run.origins.reduce((sum, { requests }) => sum + requests, 0)).toBe(fetches.length);
      }),
      RUNS,
    );
  });

  it('is the same with a waterfall and without, and for the same seed', () => {
    fc.assert(
      fc.property(load, ({ graph, path, servers, assignment, seed }) => {
        const { pltMs } = emulate(graph, path, servers, assignment, { seed });
        expect(emulate(graph, path, servers, assignment, { seed }).pltMs).toBe(pltMs);
        expect(emulate(graph, path, servers, assignment, { seed, waterfall: true }).pltMs).toBe(pltMs);
      }),
      RUNS,
    );
  });

  it('does not depend on the seed without loss', () => {
    fc.assert(
      fc.property(load, ({ graph, path, servers, assignment, seed }) => {
        const quiet = clean(path);
        const run = emulate(graph, quiet, servers, assignment, { seed, waterfall: true });
        expect(
          emulate(graph, quiet, servers, assignment, { seed: seed + 1, waterfall: true }).entries,
        ).toEqual(run.entries);
      }),
      RUNS,
    );
  });

  it('does not depend on the names of origins', () => {
    fc.assert(
      fc.property(load, ({ graph, path, servers, assignment, seed }) => {
        const renamed = new Map(
          ORIGINS.map((origin, index) => [origin, `https://${'zyxw'[index]}.example:8443`]),
        );
        const other = { ...graph, origins: graph.origins.map((origin) => renamed.get(origin)!) };
        const otherServers = servers.map((server) => ({ ...server, origin: renamed.get(server.origin)! }));
        const otherAssignment = Object.fromEntries(
          Object.entries(assignment).map(([origin, protocol]) => [renamed.get(origin)!, protocol]),
        );
        expect(emulate(other, path, otherServers.reverse(), otherAssignment, { seed }).pltMs).toBe(
          emulate(graph, path, servers, assignment, { seed }).pltMs,
        );
      }),
      RUNS,
    );
  });

  it('takes at least as long as its longest chain of dependencies', () => {
    fc.assert(
      fc.property(load, ({ graph, path, servers, assignment, seed }) => {
        const { pltMs } = emulate(graph, path, servers, assignment, { seed });
        expect(pltMs).toBeGreaterThanOrEqual(criticalPathMs(graph, path, servers, assignment) - EPSILON_MS);
      }),
      RUNS,
    );
  });
});

it.each<Protocol>(['h1', 'h2', 'h3'])(
  'ends on more origins than a browser has sockets, over %s',
  (protocol) => {
    const origins = Array.from({ length: 600 }, (_, index) => `https://o${index}.test`);
    // Twice to each origin: the second time its connection may have been closed to make room for another.
    const fetches = Array.from({ length: 1_200 }, (_, index) => ({
      origin: index % 600,
      bytes: 2_000,
      after: index < 600 ? [] : [index - 600],
      delayMs: 100,
    }));
    const page = pageOf(fetches, origins);
    const run = emulate(
      page,
      pathOf(),
      origins.map((origin) => serverOf(origin)),
      uniform(page, protocol),
    );
    expect(run.bytes).toBe(2_400_000);
    expect(run.origins.reduce((sum, { requests }) => sum + requests, 0)).toBe(1_200);
  },
);

/**
 * A lower bound for all protocols: the root's handshakes; then, along each chain of dependencies, a round trip, the
 * server's time and each response's own bytes at the link's rate.
 */
function criticalPathMs(
  { activities, origins }: PageGraph,
  { rttMs, downBps }: NetworkPath,
  servers: readonly ServerProfile[],
  assignment: Assignment,
): number {
  const firstByteMs: number[] = [];
  const endMs: number[] = [];
  let loadMs = 0;
  const reached = ({ activity, fraction }: Activity['after'][number]) =>
    firstByteMs[activity]! + fraction * (endMs[activity]! - firstByteMs[activity]!);
  for (const activity of activities) {
    const beginMs = Math.max(0, ...activity.after.map(reached));
    if (activity.kind === 'compute') {
      firstByteMs.push(beginMs + activity.durationMs);
      endMs.push(beginMs + activity.durationMs);
    } else {
      const origin = origins[activity.origin]!;
      const server = servers.find((one) => one.origin === origin)!;
      const roundTripMs = rttMs + server.extraRttMs;
      const opening = activity.id === 0 ? handshakeRounds(assignment[origin]!, server) * roundTripMs : 0;
      const thinkMs = activity.thinkMs ?? server.thinkMs;
      firstByteMs.push(beginMs + activity.delayMs + opening + roundTripMs + thinkMs);
      endMs.push(firstByteMs.at(-1)! + (activity.responseBytes * 8000) / downBps);
    }
    if (activity.blocksLoad) loadMs = Math.max(loadMs, endMs.at(-1)!);
  }
  return loadMs;
}

/** TCP's and TLS's round trips, or QUIC's; a name is resolved besides. */
function handshakeRounds(protocol: Protocol, { tlsVersion }: ServerProfile): number {
  if (protocol === 'h3') return 1;
  return tlsVersion === '1.2' ? 3 : 2;
}

describe('a load compared with another', () => {
  /** Relative changes of the load time over the same random loads every time. */
  const changes = (
    count: number,
    compare: (input: {
      graph: PageGraph;
      path: NetworkPath;
      servers: ServerProfile[];
      assignment: Assignment;
    }) => [before: number, after: number],
  ): number[] =>
    fc
      .sample(fc.record({ graph, path: path.map(clean), servers, assignment }), {
        seed: 20260105,
        numRuns: count,
      })
      .map((input) => {
        const [before, after] = compare(input);
        return after / before - 1;
      })
      .sort((a, b) => a - b);
  const quantile = (sorted: number[], share: number) => sorted[Math.floor(share * (sorted.length - 1))]!;

  it('is not slower over a link of twice the rate, except when slow start overshoots', () => {
    const found = changes(500, ({ graph, path, servers, assignment }) => {
      const wide = {
        ...path,
        downBps: 2 * path.downBps,
        upBps: 2 * path.upBps,
        queueBytes: 2 * path.queueBytes,
      };
      return [
        emulate(graph, path, servers, assignment).pltMs,
        emulate(graph, wide, servers, assignment).pltMs,
      ];
    });
    expect(quantile(found, 0.99)).toBeLessThan(0.02);
    expect(found.at(-1)).toBeLessThan(0.15);
  });

  it('is not faster over a longer round trip', () => {
    const found = changes(500, ({ graph, path, servers, assignment }) => {
      const far = { ...path, rttMs: path.rttMs + 50 };
      return [
        emulate(graph, far, servers, assignment).pltMs,
        emulate(graph, path, servers, assignment).pltMs,
      ];
    });
    // A window that grows slower may overshoot a queue less: one page in 500 is a fifth faster.
    expect(quantile(found, 0.99)).toBeLessThan(0.02);
    expect(found.at(-1)).toBeLessThan(0.3);
  });

  it('changes little when requests of one moment are made in another order and no queue overflows', () => {
    const files = fc.array(
      fc.record({ bytes: fc.integer({ min: 100, max: 120_000 }), origin: fc.nat(ORIGINS.length - 1) }),
      { minLength: 2, maxLength: 30 },
    );
    const sizes = fc
      .sample(fc.record({ files, path: path.map(clean), servers, assignment }), {
        seed: 20260105,
        numRuns: countRuns(170, 500),
      })
      .map(({ files, path, servers, assignment }) => {
        const timeOf = (order: typeof files) => {
          const document = { origin: 0, bytes: 20_000 };
          const page = pageOf([document, ...order.map((file) => ({ ...file, after: [0] }))], ORIGINS);
          return emulate(page, { ...path, queueBytes: 1e9 }, servers, assignment).pltMs;
        };
        return Math.abs(timeOf(files.toReversed()) / timeOf(files) - 1);
      })
      .sort((a, b) => a - b);
    expect(quantile(sizes, 0.5)).toBeLessThan(0.01);
    expect(quantile(sizes, 0.95)).toBeLessThan(0.1);
    expect(sizes.at(-1)).toBeLessThan(0.4);
  });

  it('is slower with loss on average', () => {
    let quiet = 0;
    let lossy = 0;
    for (const { graph, path, servers, assignment } of fc.sample(load, { seed: 20260105, numRuns: 60 })) {
      const open = clean(path);
      for (let seed = 1; seed <= 3; seed++) {
        quiet += emulate(graph, open, servers, assignment, { seed }).pltMs;
        lossy += emulate(graph, { ...open, loss: 0.02 }, servers, assignment, { seed }).pltMs;
      }
    }
    expect(lossy).toBeGreaterThan(quiet * 1.02);
  });
});
