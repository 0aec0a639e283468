import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  FEATURES,
  type Feature,
  FeatureWindow,
  type LoggedRequest,
} from '../../src/features/window-features.ts';
import { MISSING, SCALES, uniform } from '../support/generated-rows.ts';

const GOLDEN = new URL('../../golden/windows.json', import.meta.url);
const REQUESTS = 1_000;
function generateRequests(): LoggedRequest[] {
  const next = uniform();
  let timeS = 0;
  return Array.from({ length: REQUESTS }, (_, index) => {
    timeS += (index % 100 > 0 ? 4 : 64) * next();
    const protocol = next() < 0.5 ? 'tcp' : 'quic';
    const figures: Partial<Record<Feature, number>> = {};
    for (const [column, feature] of FEATURES.entries()) {
      const isMissing = next() < MISSING;
      const value = next() * SCALES[column]!;
      if (!isMissing) figures[feature] = value;
    }
    return { timeS, protocol, figures };
  });
}

/** The features at each request. */
function computeFeatures(requests: readonly LoggedRequest[]): Float32Array[] {
  const windows = { tcp: new FeatureWindow(), quic: new FeatureWindow() };
  return requests.map((request) => windows[request.protocol].add(request));
}

describe('features', () => {
  it('are those that Python computes, in 1,000 windows', () => {
    const golden: (number | null)[][] = JSON.parse(readFileSync(GOLDEN, 'utf8'));
    const features = computeFeatures(generateRequests());
    expect(features).toHaveLength(golden.length);
    for (const [index, row] of golden.entries()) {
      for (const [column, expected] of row.entries()) {
        const value = features[index]![column]!;
        if (expected === null) expect(value).toBeNaN();
        else expect(Math.abs(value - expected)).toBeLessThanOrEqual(1e-6 * Math.abs(expected));
      }
    }
  });

  it('are means over the same protocol’s requests of the last 30 s', () => {
    const request = (
      timeS: number,
      protocol: 'tcp' | 'quic',
      rttMs: number,
      ttfbMs: number,
    ): LoggedRequest => ({
      timeS,
      protocol,
      figures: { mean_rtt_ms: rttMs, ttfb_ms: ttfbMs },
    });
    const rows = computeFeatures([
      request(0, 'tcp', 10, 100),
      request(1, 'quic', 90, 900),
      request(30, 'tcp', 20, 400),
      request(31, 'tcp', 60, 100),
    ]);
    const column = FEATURES.indexOf('mean_rtt_ms');
    // 30 s later the first request still counts, 31 s later it does not.
    expect(rows.map((row) => row[column])).toEqual([10, 90, 15, 40]);
    // √(100 · 400)
    expect(rows[2]![FEATURES.indexOf('ttfb_ms')]).toBeCloseTo(200, 4);
    expect(rows[0]![FEATURES.indexOf('retransmission_rate')]).toBeNaN();
  });
});
