/** Loss events at real senders against a model, for the tests of p(cwnd). */
import { expect } from 'vitest';
import type { LabNetwork } from '../../../lab/src/client/networks.ts';
import { measureUntil } from '../../../lab/test/support/attempts.ts';
import { collectPcwnd, type PcwndMeasurement } from '../../src/pcwnd/collect.ts';

export const LINK: LabNetwork = {
  rttMs: 20,
  downMbps: 200,
  upMbps: 50,
  loss: 0.005,
  lossBurst: 1,
  queue: { ms: 300 },
  udp: 'open',
  seed: 11,
};

type Counted = 'rounds' | 'packets' | 'lossEvents';

export const sum = (windows: PcwndMeasurement['windows'], of: Counted): number =>
  windows.reduce((total, window) => total + window[of], 0);
const total = ({ windows }: PcwndMeasurement, of: Counted): number => sum(windows, of);

/** Distance from the loss events of independent losses, 1 − (1 − p)^packets for each round, in standard deviations. */
function deviation({ windows }: PcwndMeasurement, loss: number): number {
  let excess = 0;
  let variance = 0;
  for (const { rounds, packets, lossEvents } of windows) {
    const chance = 1 - (1 - loss) ** (packets / rounds);
    excess += lossEvents - rounds * chance;
    variance += rounds * chance * (1 - chance);
  }
  return excess / Math.sqrt(variance);
}

/** Senders on a link with independent losses, whose windows `sampler` reads. */
export async function expectIndependentLosses(sampler: 'tcp_probe' | 'tcp_info'): Promise<void> {
  const measured = await measureUntil(
    () => collectPcwnd({ network: LINK, congestionControl: 'cubic', connections: 6, seconds: 4, sampler }),
    // A busy machine drops samples and packets of its own, and rounds are left out.
    ({ lostSamples, down, windows }) =>
      lostSamples === 0 && down.drops.queue + down.drops.device === 0 && sum(windows, 'rounds') > 300,
  );
  if (measured.reason === undefined) expect(measured.sampler).toBe(sampler);
  else expect(measured).toMatchObject({ sampler: 'tcp_info', reason: expect.stringMatching(/./) });
  expect(measured.down.drops).toMatchObject({ queue: 0, device: 0 });
  expect(measured.lostSamples).toBe(0);
  expect(total(measured, 'rounds')).toBeGreaterThan(300);
  // By chance, one run in 16,000 is further off.
  expect(Math.abs(deviation(measured, LINK.loss))).toBeLessThan(4);
  // The senders fill their windows, so that packets stand for cwnd.
  const windows = measured.windows.reduce((sum, { cwnd, rounds }) => sum + cwnd * rounds, 0);
  expect(total(measured, 'packets') / windows).toBeGreaterThan(0.95);
}
