import { SEGMENT_BYTES } from '@hopwise/pageload-emulator';
import { type FlowConditions, lossBySegment } from '@hopwise/pageload-emulator/econ';
import { describe, expect, test } from 'vitest';
import { simulateFlows } from '../../src/econ/oracle.ts';
import { VIDEO_LOSS, VIDEO_RTTS_MS, VIDEO_SEGMENT_MS, VIDEO_SIZES } from '../../src/econ/scenarios.ts';
import { steadyThroughput } from '../../src/econ/steady-throughput.ts';
import { highestBitrate } from '../../src/econ/video-bitrate.ts';

/** The resolutions that were measured to be the highest in time (table 5). */
const MEASURED = ['720p', '720p', '480p', '480p'];

describe("table 5's four video cases", () => {
  /** Mid-stream, in congestion avoidance; the mean window is assumed, as the paper's trace is not public. */
  function caseOf(rttMs: number) {
    const conditions: FlowConditions = { congestionControl: 'cubic', rttMs, loss: lossBySegment(VIDEO_LOSS) };
    const window = Math.floor(steadyThroughput(conditions).segmentsPerMs * rttMs);
    const from = { window, ssthresh: window };
    return { choice: highestBitrate(VIDEO_SIZES, VIDEO_SEGMENT_MS, conditions, from), from };
  }

  test.each(VIDEO_RTTS_MS)(
    '%s ms: the quality that the oracle finds in time, each latency within 0.03',
    (rttMs) => {
      const { choice, from } = caseOf(rttMs);
      const oracle = { cubic: true, rttMs, segmentLoss: () => VIDEO_LOSS };
      const simulated = VIDEO_SIZES.map(({ name, bytes }) => ({
        name,
        latency: simulateFlows(oracle, Math.ceil(bytes / SEGMENT_BYTES), from, 700, rttMs),
      }));
      for (const [index, { name, latency }] of simulated.entries()) {
        expect(choice.representations[index]!.name).toBe(name);
        expect(Math.abs(choice.representations[index]!.latencyMs / latency.value - 1)).toBeLessThan(0.03);
      }
      const best = simulated.find(({ latency }) => latency.value <= VIDEO_SEGMENT_MS);
      expect(choice.best?.name).toBe(best?.name);
    },
  );

  test('are as measured in the paper, or one quality below', () => {
    const names = VIDEO_SIZES.map(({ name }) => name);
    const below = VIDEO_RTTS_MS.map(
      (rttMs, index) => names.indexOf(caseOf(rttMs).choice.best!.name) - names.indexOf(MEASURED[index]!),
    );
    expect(below).toEqual([0, 1, 0, 1]);
  });

  test('fall from quality to quality as the round trip grows', () => {
    const sizes = VIDEO_RTTS_MS.map((rttMs) => caseOf(rttMs).choice.best!.bytes);
    expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
    expect(new Set(sizes).size).toBeGreaterThanOrEqual(3);
  });
});
