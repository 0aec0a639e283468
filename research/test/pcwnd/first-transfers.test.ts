import { NETWORKS } from '@hopwise/bench/windows/networks';
import { expect, it } from 'vitest';
import { predictFirst } from '../../src/pcwnd/first-transfers.ts';

const count = (lossEvents: number) => ({ cwnd: 10, rounds: 1000, packets: 10_000, lossEvents });

it('predicts first transfers by the rounds of slow start, the losses of the cluster and the rate of the link', () => {
  const dsl = NETWORKS.dsl!;
  const [[clean], [lossy]] = [0, 300].map((losses) => predictFirst([count(losses)], dsl, [100_000])) as [
    ReturnType<typeof predictFirst>,
    ReturnType<typeof predictFirst>,
  ];
  // 70 segments are three windows of 10, 20 and 40: three round trips of 40 ms. At 16 Mbit/s they take 52 ms alone.
  expect(clean!.byLossMs).toBeCloseTo(120, 0);
  expect(clean!.byLinkMs).toBeGreaterThan(clean!.byLossMs + 15);
  expect(lossy!.byLossMs).toBeGreaterThan(clean!.byLossMs + 40);
});
