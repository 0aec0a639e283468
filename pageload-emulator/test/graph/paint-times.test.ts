import {
  checkPage,
  type PaintTimes,
  PROTOCOLS,
  predict,
  type RecordedRequest,
  type Recording,
  type ResourceType,
} from '@hopwise/pageload-emulator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countRuns } from '../../../scripts/suites/draw-share.ts';
import { type PaintedLoad, PaintModel } from '../../src/graph/paint-times.ts';
import { traceLoad } from '../../src/trace/traced-load.ts';
import { pageOf, pathOf, ROUND_TRIPS_ONLY, serverOf, uniform } from '../support/pages.ts';
import { randomPage, randomServers, recordLoad } from '../support/synthetic-loads.ts';

/** A document, a stylesheet that blocks rendering, two images and a script. */
const graph = pageOf([
  { bytes: 5_000 },
  { bytes: 5_000, after: [0], urgency: 0 },
  { bytes: 4_000, after: [0] },
  { bytes: 2_000, after: [0] },
  { bytes: 9_000, after: [1], urgency: 1 },
]);
for (const activity of graph.activities) {
  if (activity.kind === 'fetch') activity.renderBlocking = activity.id <= 1;
}

const recorded = (type: ResourceType, endMs: number) => ({ type, endMs }) as RecordedRequest;
const recording: PaintedLoad = {
  requests: [
    recorded('document', 150),
    recorded('style', 200),
    recorded('image', 590),
    recorded('image', 560),
    recorded('script', 650),
  ],
  pltMs: 700,
  firstContentfulPaintMs: 230,
  largestContentfulPaintMs: 610,
};

function paintsOf(changes: Partial<PaintedLoad>, protocol: 'h2' | 'h3' = 'h2') {
  const scenario = { path: ROUND_TRIPS_ONLY, servers: [serverOf('https://a.test')], seed: 1 };
  const { load } = traceLoad(graph, scenario, uniform(graph, protocol));
  return { model: new PaintModel({ ...recording, ...changes }, graph), endMs: load.endMs };
}

describe('paint times', () => {
  it('follow what blocked rendering by the recorded delay', () => {
    const { model, endMs } = paintsOf({});
    // Handshakes 200, document 100, stylesheet 100; 30 ms passed between stylesheet and paint.
    expect(model.timesOf(endMs).firstContentfulPaintMs).toBeCloseTo(430, 3);
    // A protocol that spares a round trip paints a round trip sooner.
    const h3 = paintsOf({}, 'h3');
    expect(h3.model.timesOf(h3.endMs).firstContentfulPaintMs).toBeCloseTo(330, 3);
  });

  it('follow the image painted last, the larger of two', () => {
    const { model, endMs } = paintsOf({});
    // The images end with the stylesheet at 400; 20 ms passed between the first image and its paint.
    expect(endMs[2]).toBeCloseTo(400, 3);
    expect(model.timesOf(endMs).largestContentfulPaintMs).toBeCloseTo(430, 3);
    const later = paintsOf({ largestContentfulPaintMs: 700 });
    expect(later.model.timesOf(later.endMs).largestContentfulPaintMs).toBeCloseTo(400 + 110, 3);
  });

  it('follow the image that the recorder names', () => {
    const { model, endMs } = paintsOf({
      largestContentfulPaintUrl: 'https://a.test/3',
      largestContentfulPaintMs: 700,
    });
    // That one had ended at 560.
    expect(model.timesOf(endMs).largestContentfulPaintMs).toBeCloseTo(400 + 140, 3);
  });

  it('follow the first paint when the largest was text', () => {
    const { model, endMs } = paintsOf({ largestContentfulPaintUrl: null });
    expect(model.timesOf(endMs).largestContentfulPaintMs).toBeCloseTo(430 + (610 - 230), 3);
  });

  it.each([
    ['a first paint', { firstContentfulPaintMs: null }, { first: null, largest: 420 }],
    ['a largest paint', { largestContentfulPaintMs: null }, { first: 430, largest: null }],
    [
      'a first paint, where the largest would follow it',
      { firstContentfulPaintMs: null, largestContentfulPaintUrl: null },
      { first: null, largest: null },
    ],
  ])('are unknown where the recording lacks %s', (_, changes, { first, largest }) => {
    const { model, endMs } = paintsOf(changes);
    const times = model.timesOf(endMs);
    const rounded = (ms: number | null) => ms && Math.round(ms);
    expect(rounded(times.firstContentfulPaintMs)).toBe(first);
    expect(rounded(times.largestContentfulPaintMs)).toBe(largest);
  });
});

/** A page painted at shares of the time between document and load event; the largest was text, or the recorder does not say what. */
function paintedPage(seed: number, first: number, largest: number, isText: boolean): Recording {
  const page = randomPage(seed);
  const path = pathOf({ rttMs: 20 + (seed % 7) * 30, downBps: 2e6 * (1 + (seed % 11)), loss: 0.01 });
  const recording = recordLoad(page, path, randomServers(page, seed), uniform(page, 'h2'), seed);
  const documentMs = recording.requests[0]!.endMs;
  const paintMs = (part: number) => documentMs + part * (recording.pltMs! - documentMs);
  return {
    ...recording,
    firstContentfulPaintMs: paintMs(first),
    largestContentfulPaintMs: paintMs(largest),
    ...(isText && { largestContentfulPaintUrl: null }),
  };
}

const share = fc.double({ min: 0, max: 1, noNaN: true });
const ROUNDING_MS = 1e-6;
const NEAR = pathOf({ rttMs: 5, downBps: 1e8, loss: 0 });

it('paints that were recorded before the load event are predicted before it, the first of them first', () => {
  const expectOrder = (paints: PaintTimes, pltMs: number) => {
    const { firstContentfulPaintMs: first, largestContentfulPaintMs: largest } = paints;
    expect(first).toBeGreaterThan(0);
    expect(first! - largest!).toBeLessThan(ROUNDING_MS);
    expect(largest! - pltMs).toBeLessThan(ROUNDING_MS);
  };
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 400 }),
      share,
      share,
      fc.boolean(),
      fc.boolean(),
      (seed, a, b, isText, isElsewhere) => {
        const recording = paintedPage(seed, Math.min(a, b), Math.max(a, b), isText);
        const { protocols } = predict(recording, { seeds: 4, ...(isElsewhere && { network: NEAR }) });
        for (const protocol of PROTOCOLS) {
          const time = protocols[protocol];
          if ('pltMs' in time) expectOrder(time, time.pltMs);
        }
        const { firstPaintMs, largestPaintMs, loadTimeMs } = checkPage(recording, NEAR);
        expectOrder(
          { firstContentfulPaintMs: firstPaintMs, largestContentfulPaintMs: largestPaintMs },
          loadTimeMs,
        );
      },
    ),
    { numRuns: countRuns(5, 60) },
  );
});

it.each([-1, 300])(
  'a text painted last after the load event is predicted no longer after it, nor before the first paint (%i)',
  (firstMs) => {
    const slow = pathOf({ rttMs: 300, downBps: 500e3 });
    const page = randomPage(1);
    const load = recordLoad(page, slow, randomServers(page, 1), uniform(page, 'h2'), 1);
    const recording = {
      ...load,
      firstContentfulPaintMs: firstMs < 0 ? load.requests[0]!.endMs : load.pltMs! + firstMs,
      largestContentfulPaintMs: load.pltMs! + 400,
      largestContentfulPaintUrl: null,
    };
    const { firstPaintMs, largestPaintMs, loadTimeMs } = checkPage(recording, NEAR);
    expect(load.pltMs! / loadTimeMs).toBeGreaterThan(5);
    expect(largestPaintMs! - firstPaintMs!).toBeGreaterThanOrEqual(0);
    expect(largestPaintMs! - loadTimeMs).toBeLessThanOrEqual(400 + ROUNDING_MS);
  },
);
