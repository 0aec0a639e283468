import { describe, expect, it } from 'vitest';
import { emulate } from '../../src/emulate/emulate.ts';
import { randomLoss } from '../../src/estimate/random-loss.ts';
import { pageOf, pathOf, serverOf, uniform } from '../support/pages.ts';

/** A document and 40 images of 40 kB at once. */
const page = pageOf([
  { bytes: 20_000 },
  ...Array.from({ length: 40 }, () => ({ bytes: 40_000, after: [0] })),
]);
const servers = [serverOf('https://a.test')];
const loads = [uniform(page, 'h1'), uniform(page, 'h2')];
const SLOW = { rttMs: 100, downBps: 2e6, upBps: 1e6, loss: 0 };

describe('random loss', () => {
  it('is none when queue drops alone explain the losses', () => {
    const path = pathOf({ ...SLOW, queueBytes: 20_000 });
    const drops = emulate(page, path, servers, loads[0]!, { seed: 1 }).origins[0]!.queueDrops;
    expect(drops).toBeGreaterThan(20);
    // 1.6 MB are some 1,100 packets: 1% is fewer than the queue drops.
    expect(randomLoss(page, path, servers, loads, 0.01)).toBe(0);
  });

  it('is the observed loss when the queue drops nothing', () => {
    const path = pathOf({ ...SLOW, queueBytes: 1e9 });
    const loss = randomLoss(page, path, servers, loads, 0.02);
    expect(loss).toBeGreaterThan(0.013);
    expect(loss).toBeLessThanOrEqual(0.02);
  });

  it('is none when none was observed', () => {
    expect(randomLoss(page, pathOf(SLOW), servers, loads, 0)).toBe(0);
  });
});
