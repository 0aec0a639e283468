import type { MeasuredExchange } from '@hopwise/contract';
import { expect, test } from 'vitest';
import { ExchangeFeatures } from '../../src/features/exchange-features.ts';
import { FEATURES } from '../../src/features/window-features.ts';

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
