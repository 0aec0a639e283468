import { readFileSync } from 'node:fs';
import type { MeasuredExchange } from '@hopwise/contract';
import { expect, test } from 'vitest';
import { ExchangeFeatures } from '../../src/features/exchange-features.ts';
import { FEATURES } from '../../src/features/window-features.ts';
import { MISSING, uniform } from '../support/generated-rows.ts';

const START_MS = 1_700_000_000_000;

const exchange = (afterMs: number, more: Partial<MeasuredExchange> = {}): MeasuredExchange => ({
  endedAtMs: START_MS + afterMs,
  protocol: 'h2',
  status: 200,
  ttfbMs: 50,
  completionMs: 70,
  bodyBytes: 4000,
  isReused: true,
  tcp: { rttMs: 40, segments: 10, outOfOrder: 1 },
  ...more,
});

const rowOf = (features: Float32Array) =>
  Object.fromEntries(FEATURES.map((name, column) => [name, features[column]!]));

test('features of an exchange are its own figures, and the means of its record window', () => {
  const row = rowOf(new ExchangeFeatures().add(exchange(0)));
  expect(row).toMatchObject({ mean_rtt_ms: 40, mean_ttfb_ms: 50, ttfb_ratio: 1 });
  expect(row.retransmission_rate).toBeCloseTo(0.1, 6);
  expect(row.response_goodput).toBeCloseTo(4000 / 20, 3);
  expect(row.completion_goodput).toBeCloseTo(4000 / 70, 3);
});

test('they are averaged over the recognition window, rates and first bytes as geometric means', () => {
  const features = new ExchangeFeatures();
  features.add(exchange(0));
  const row = rowOf(features.add(exchange(100, { ttfbMs: 200, completionMs: 300, tcp: null })));
  expect(row.ttfb_ms).toBeCloseTo(100, 3);
  // The mean of the record windows at each of both: 50, and 125.
  expect(row.mean_ttfb_ms).toBeCloseTo(87.5, 3);
  expect(row.mean_rtt_ms).toBe(40);
  expect(row.response_goodput).toBeCloseTo(Math.sqrt(200 * 40), 3);
});

test('QUIC has no round trips and losses, and windows of its own', () => {
  const features = new ExchangeFeatures();
  features.add(exchange(0));
  const row = rowOf(features.add(exchange(100, { protocol: 'h3', ttfbMs: 10, tcp: null })));
  expect(row).toMatchObject({ retransmission_rate: Number.NaN, mean_rtt_ms: Number.NaN, mean_ttfb_ms: 10 });
});

test('what ended more than 30 s earlier is forgotten', () => {
  const features = new ExchangeFeatures();
  features.add(exchange(0, { ttfbMs: 5_000, completionMs: 6_000 }));
  expect(rowOf(features.add(exchange(30_001))).mean_ttfb_ms).toBe(50);
});

test('a body that arrives with its first byte, or none, shows no rate', () => {
  const row = rowOf(new ExchangeFeatures().add(exchange(0, { completionMs: 50, bodyBytes: 0 })));
  expect(row).toMatchObject({ response_goodput: Number.NaN, completion_goodput: Number.NaN });
});

/** Generates the same exchanges as `model/python/tests/golden_exchanges.py`. */
function generateExchanges(count: number): MeasuredExchange[] {
  const next = uniform();
  let endedAtMs = 0;
  return Array.from({ length: count }, (_, index) => {
    endedAtMs += Math.floor((index % 100 > 0 ? 4_000 : 64_000) * next());
    const protocol = next() < 0.5 ? 'h2' : 'h3';
    const ttfbMs = 1 + Math.floor(500 * next());
    const completionMs = ttfbMs + Math.floor(8 * next()) * 16;
    const bodyBytes = next() < MISSING ? 0 : Math.floor(100_000 * next());
    const [segments, lost] = [Math.floor(8 * next()), next()];
    const [hasRtt, rttMs] = [next() >= MISSING, Math.floor(400 * next()) / 2];
    const isMeasured = protocol === 'h2' && next() >= MISSING;
    const tcp = { rttMs: hasRtt ? rttMs : null, segments, outOfOrder: Math.floor(segments * lost) };
    const connection = { isReused: true, tcp: isMeasured ? tcp : null };
    return { endedAtMs, protocol, status: 200, ttfbMs, completionMs, bodyBytes, ...connection };
  });
}

test('features are those that Python computes, at 1,000 exchanges', () => {
  const golden: (number | null)[][] = JSON.parse(
    readFileSync(new URL('../../golden/exchanges.json', import.meta.url), 'utf8'),
  );
  expect(golden).toHaveLength(1_000);
  const features = new ExchangeFeatures();
  for (const [index, exchange] of generateExchanges(golden.length).entries()) {
    const row = features.add(exchange);
    for (const [column, expected] of golden[index]!.entries()) {
      if (expected === null) expect(row[column], `${index} ${FEATURES[column]}`).toBeNaN();
      else
        expect(Math.abs(row[column]! - expected), `${index} ${FEATURES[column]}`).toBeLessThanOrEqual(
          1e-6 * expected,
        );
    }
  }
});
