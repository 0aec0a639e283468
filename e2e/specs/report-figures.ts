/** Figures of reports, for the specs of `npm start`. */

import type { RepeatedSpread, Spread } from '@hopwise/extension/report';
import { expect } from '@playwright/test';

export const PROTOCOLS = ['h1', 'h2', 'h3'] as const;
/** Arguments of a short run. */
export const QUICK = ['--loads', '2', '--rounds', '1'];

/** A time that was predicted or measured. */
export function spread(value: unknown): RepeatedSpread {
  expect(value, JSON.stringify(value)).toMatchObject({
    median: expect.any(Number),
    low: expect.any(Number),
    high: expect.any(Number),
  });
  return value as RepeatedSpread;
}

export function ordered({ low, median, high }: Spread): void {
  expect(low).toBeGreaterThan(0);
  expect(median).toBeGreaterThanOrEqual(low);
  expect(high).toBeGreaterThanOrEqual(median);
}
