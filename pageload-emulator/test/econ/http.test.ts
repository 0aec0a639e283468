import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countRuns } from '../../../scripts/suites/draw-share.ts';
import { lossBySegment } from '../../src/econ/loss-by-segment.ts';
import { type EconNetwork, econPageLoad } from '../../src/econ/page-load.ts';
import { WindowWalk } from '../../src/econ/window-walk.ts';
import type { ComputeActivity, FetchActivity } from '../../src/graph/page-graph.ts';
import { SEGMENT_BYTES, SEGMENT_WIRE_BYTES } from '../../src/network/packet.ts';
import { pageOf } from '../support/pages.ts';

function networkOf(changes: Partial<Omit<EconNetwork, 'loss'>> & { loss?: number } = {}): EconNetwork {
  const { loss = 0, ...rest } = changes;
  return {
    rttMs: 100,
    downBps: 1e15,
    queueBytes: 1e15,
    loss: () => lossBySegment(loss),
    congestionControl: 'cubic',
    initialWindow: 10,
    handshakeRounds: 2,
    ...rest,
  };
}

const segments = (count: number) => count * SEGMENT_BYTES;

/** Time for objects that are requested at once, with the connection that brought the page open. */
function objectsLatencyMs(
  protocol: 'h1' | 'h2',
  objects: number,
  bytes: number,
  network: EconNetwork,
): number {
  const graph = pageOf(Array.from({ length: objects }, () => ({ bytes })));
  return econPageLoad(graph, network, protocol, { warmConnections: 1 }).pltMs;
}

describe('HTTP/1.1', () => {
  test('uses six connections, five of which it opens', () => {
    // The open one carries an object a round trip; the others are there after two.
    const ms = (objects: number) => objectsLatencyMs('h1', objects, segments(5), networkOf());
    expect([1, 2, 3, 8, 9, 14].map(ms)).toEqual(
      [100, 200, 300, 300, 400, 400].map((x) => expect.closeTo(x, 3)),
    );
  });

  test('a connection with losses delays only its own objects', () => {
    const graph = pageOf([{ bytes: segments(3) }, { bytes: segments(3) }]);
    const cold = econPageLoad(graph, networkOf(), 'h1').pltMs;
    expect(cold).toBeCloseTo(300, 3);
  });
});

describe('HTTP/2', () => {
  test('carries all objects in one window', () => {
    // 10, 20 and 40 segments: three round trips.
    expect(objectsLatencyMs('h2', 10, segments(7), networkOf())).toBeCloseTo(300, 3);
    expect(objectsLatencyMs('h2', 10, segments(7.1), networkOf())).toBeCloseTo(400, 3);
  });

  test('grows its window by all segments that filled it, whenever they were requested', () => {
    // Six segments, and four of 34 when they are asked for 10 ms later, fill the window. Their acknowledgements let 12 go
    // at 100 ms and 8 at 110 ms, and what is left, ten, at 200 ms.
    const graph = pageOf([{ bytes: segments(6) }, { bytes: segments(34) }]);
    graph.activities[1]!.after = [];
    (graph.activities[1] as FetchActivity).delayMs = 10;
    expect(econPageLoad(graph, networkOf({ handshakeRounds: 0 }), 'h2').pltMs).toBeCloseTo(300, 3);
    // Six alone would not.
    (graph.activities[1] as FetchActivity).delayMs = 100;
    expect(econPageLoad(graph, networkOf({ handshakeRounds: 0 }), 'h2').pltMs).toBeCloseTo(400, 3);
  });

  test('is no faster than the bottleneck', () => {
    // 3,000 segments at one a millisecond, through its first two round trips.
    const network = networkOf({ downBps: 12e6, queueBytes: 1e9 });
    const ms = objectsLatencyMs('h2', 10, segments(300), network);
    expect(ms).toBeGreaterThan(3_000 + 100);
    expect(ms).toBeLessThan(3_000 + 500);
  });
});

describe('the window of one trajectory', () => {
  const loss = lossBySegment(0.01);

  test('loses at the place of the draw, sends one segment for each acknowledgement, and continues from the cut window', () => {
    // Survival falls below 0.8 at the 23rd segment: 0.99²² = 0.8016, 0.99²³ = 0.7936. That is the 13th of the second round.
    const draws = [0.8, 1e-9];
    const walk = new WindowWalk('reno', { window: 10 }, () => draws.shift()!);
    const round = (count: number) => {
      const carried = walk.send(count, count, { loss });
      walk.acknowledge(count, carried, true, 100);
      return carried;
    };
    expect(round(10)).toEqual({ firstLost: 0, lost: 0, cuts: false });
    expect(walk.segments).toBe(20);
    expect(round(20)).toEqual({ firstLost: 13, lost: 1, cuts: true });
    // Two for each of the 12 acknowledged, and the lost one; then half of 20 + 12.
    expect(walk.segments).toBe(25);
    expect(round(25)).toEqual({ firstLost: 0, lost: 0, cuts: false });
    expect(walk.segments).toBe(16);
    round(16);
    expect(walk.segments).toBe(17);
  });

  test('in congestion avoidance sends one segment for each acknowledgement after a loss', () => {
    const draws = [0.95, 1e-9];
    const walk = new WindowWalk('cubic', { window: 40, ssthresh: 40 }, () => draws.shift()!);
    // 0.99⁵ = 0.951, 0.99⁶ = 0.941.
    const carried = walk.send(40, 40, { loss });
    expect(carried).toEqual({ firstLost: 6, lost: 1, cuts: true });
    walk.acknowledge(40, carried, true, 100);
    expect(walk.segments).toBe(6);
    walk.acknowledge(6, walk.send(6, 6, { loss }), true, 100);
    expect(walk.segments).toBe(28);
  });

  test('loses what the queue has no room for, and cuts its window once', () => {
    const walk = new WindowWalk('cubic', { window: 40, ssthresh: 40 }, () => 1e-9);
    const first = walk.send(30, 25, { loss });
    const second = walk.send(10, 0, { loss });
    expect(first).toEqual({ firstLost: 26, lost: 5, cuts: true });
    expect(second).toEqual({ firstLost: 1, lost: 10, cuts: false });
    walk.acknowledge(30, first, true, 100);
    walk.acknowledge(10, second, true, 100);
    expect(walk.segments).toBe(28);
  });
});

describe('pages', () => {
  test('follow the dependencies of their graph', () => {
    // A document in one round trip, three segments and then a compute; the second origin is opened anew.
    const graph = pageOf(
      [
        { bytes: segments(4) },
        { bytes: segments(3), after: [0], delayMs: 30 },
        { bytes: segments(12), after: [1], origin: 1 },
      ],
      ['https://a.test', 'https://b.test'],
    );
    const compute: ComputeActivity = {
      kind: 'compute',
      id: 3,
      requestId: 1,
      durationMs: 500,
      blocksLoad: true,
      after: [{ activity: 1, kind: 'execution', fraction: 1, source: 'inferred' }],
    };
    graph.activities.push(compute);
    // Handshake 200, document 100, 30, 100; then 200 for the handshake and 200 for 12 segments beside 500 of computing.
    expect(econPageLoad(graph, networkOf(), 'h2').pltMs).toBeCloseTo(930, 3);
    compute.durationMs = 0;
    expect(econPageLoad(graph, networkOf(), 'h2').pltMs).toBeCloseTo(830, 3);
    // Another 50 ms to the second origin: on its handshake's two round trips and on the two of its response.
    expect(econPageLoad(graph, networkOf(), 'h2', { extraRttMs: [0, 50] }).pltMs).toBeCloseTo(1_030, 3);
    expect(econPageLoad(graph, networkOf(), 'h2', { thinkMs: [40, 0] }).pltMs).toBeCloseTo(910, 3);
  });

  test('list the connections and objects of the trajectory in the middle', () => {
    const graph = pageOf([
      { bytes: segments(5) },
      { bytes: segments(5), after: [0] },
      { bytes: segments(5), after: [0] },
    ]);
    // 200 ms of handshake, then a round trip for the document and one for both objects.
    const { middle } = econPageLoad(graph, networkOf(), 'h2');
    expect(middle.connections).toEqual([
      { origin: 0, readyMs: 200, requests: 3, bytes: segments(15), lostSegments: 0 },
    ]);
    expect(middle.transfers.map(({ activity, connection }) => [activity, connection])).toEqual([
      [0, 0],
      [1, 0],
      [2, 0],
    ]);
    expect(middle.transfers[0]).toMatchObject({ askedMs: 0, sentMs: 200 });
    expect(middle.transfers[2]!.endMs).toBeCloseTo(400, 3);
    const h1 = econPageLoad(graph, networkOf(), 'h1').middle;
    expect(h1.connections.map(({ requests }) => requests)).toHaveLength(2);
    expect(h1.pltMs).toBe(Math.max(...h1.transfers.map(({ endMs }) => endMs)));
  });

  test('compute on one thread', () => {
    const graph = pageOf([{ bytes: segments(1) }]);
    for (const id of [1, 2, 3]) {
      graph.activities.push({
        kind: 'compute',
        id,
        requestId: 0,
        durationMs: 40,
        blocksLoad: id < 3,
        after: [{ activity: 0, kind: 'execution', fraction: 1, source: 'inferred' }],
      });
    }
    expect(econPageLoad(graph, networkOf({ handshakeRounds: 0 }), 'h2').pltMs).toBeCloseTo(100 + 2 * 40, 3);
  });

  test('continue when the part that they wait for has arrived', () => {
    const graph = pageOf([{ bytes: segments(70) }, { bytes: segments(1), after: [0] }]);
    const [document, image] = graph.activities;
    image!.after[0]!.fraction = 0.1;
    // Seven of 70 segments are there after a round trip; the image's own segment comes behind those under way.
    expect(econPageLoad(graph, networkOf({ handshakeRounds: 0 }), 'h1').pltMs).toBeCloseTo(300, 3);
    image!.after[0]!.fraction = 1;
    expect(econPageLoad(graph, networkOf({ handshakeRounds: 0 }), 'h1').pltMs).toBeCloseTo(400, 3);
    document!.blocksLoad = false;
    image!.blocksLoad = false;
    expect(econPageLoad(graph, networkOf(), 'h1').pltMs).toBe(0);
  });

  test('have the same losses in each run, more with more loss, and none without', () => {
    const graph = pageOf(
      Array.from({ length: 30 }, (_, id) => ({ bytes: 20_000, after: id > 0 ? [0] : [] })),
    );
    for (const protocol of ['h1', 'h2'] as const) {
      const at = (loss: number) =>
        econPageLoad(graph, networkOf({ loss, downBps: 20e6, queueBytes: 1e5 }), protocol);
      expect(at(0.01)).toEqual(at(0.01));
      expect(new Set(at(0).trajectoriesMs).size).toBe(1);
      expect(at(0.03).pltMs).toBeGreaterThan(at(0.003).pltMs);
      expect(at(0.003).pltMs).toBeGreaterThanOrEqual(at(0).pltMs);
    }
  });

  test('end, whatever the page and the network are, and no sooner than the bottleneck passes them on', () => {
    const fetches = fc.array(
      fc.record({
        bytes: fc.integer({ min: 0, max: 300_000 }),
        origin: fc.nat(2),
        earlier: fc.double({ min: 0, max: 0.999, noNaN: true }),
        fraction: fc.constantFrom(0, 0.3, 1),
        urgency: fc.nat(7),
      }),
      { minLength: 1, maxLength: 25 },
    );
    const networks = fc.record({
      rttMs: fc.integer({ min: 1, max: 300 }),
      downBps: fc.integer({ min: 200_000, max: 1e9 }),
      queueBytes: fc.integer({ min: 0, max: 500_000 }),
      loss: fc.constantFrom(0, 1e-3, 0.05, 0.5),
      congestionControl: fc.constantFrom('cubic', 'reno'),
    });
    fc.assert(
      fc.property(fetches, networks, fc.constantFrom('h1', 'h2'), (sketches, network, protocol) => {
        const graph = pageOf(
          sketches.map(({ earlier, ...sketch }, id) => ({
            ...sketch,
            after: id > 0 ? [Math.floor(earlier * id)] : [],
          })),
          ['https://a.test', 'https://b.test', 'https://c.test'],
        );
        for (const [id, { fraction }] of sketches.entries()) {
          const dependency = graph.activities[id]!.after[0];
          if (dependency) dependency.fraction = fraction;
        }
        const { trajectoriesMs } = econPageLoad(graph, networkOf(network), protocol, { trajectories: 2 });
        const bytes = sketches.reduce((sum, sketch) => sum + sketch.bytes, 0);
        const passedMs = ((bytes / SEGMENT_BYTES) * SEGMENT_WIRE_BYTES * 8_000) / network.downBps;
        for (const ms of trajectoriesMs) {
          expect(ms).toBeLessThan(Number.POSITIVE_INFINITY);
          expect(ms).toBeGreaterThan(0.999 * passedMs);
          expect(ms).toBeGreaterThanOrEqual(3 * network.rttMs);
        }
      }),
      { numRuns: countRuns(50, 150) },
    );
  });

  test('take loss by the connections in flight', () => {
    const asked = new Set<number>();
    const network = {
      ...networkOf(),
      loss: (connections: number) => {
        asked.add(connections);
        return lossBySegment(0);
      },
    };
    objectsLatencyMs('h1', 20, segments(30), network);
    expect([...asked].sort()).toEqual([1, 2, 3, 4, 5, 6]);
    asked.clear();
    objectsLatencyMs('h2', 20, segments(30), network);
    expect([...asked]).toEqual([1]);
  });
});
