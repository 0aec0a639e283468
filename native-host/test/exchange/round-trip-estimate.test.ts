import { expect, it } from 'vitest';
import { RoundTripEstimate } from '../../src/exchange/round-trip-estimate.ts';

it('waits a second before any response, and then for what four probe timeouts take, at least 600 ms', () => {
  const estimate = new RoundTripEstimate();
  expect(estimate.silenceLimitMs).toBe(1_000);
  estimate.add(650);
  expect(estimate.silenceLimitMs).toBe(4_000);
  estimate.add(200);
  expect(estimate.silenceLimitMs).toBe(1_300);
  estimate.add(30);
  expect(estimate.silenceLimitMs).toBe(600);
});

it('takes the least of the newest ten responses: a server may think, and a path may change', () => {
  const estimate = new RoundTripEstimate();
  estimate.add(100);
  for (let times = 0; times < 9; times += 1) estimate.add(300);
  expect(estimate.silenceLimitMs).toBe(700);
  estimate.add(300);
  expect(estimate.silenceLimitMs).toBe(1_900);
});
