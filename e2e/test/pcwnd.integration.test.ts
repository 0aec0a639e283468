import { describe, expect, test } from 'vitest';
import { labObstacle } from '../src/lab/lab.ts';
import type { Network } from '../src/lab/networks.ts';
import { collectPcwnd, type Measured } from '../src/pcwnd/collect.ts';

const obstacle = await labObstacle();
if (obstacle) console.warn(`Skipping the integration tests of p(cwnd): ${obstacle}`);

const LINK: Network = {
  rttMs: 20,
  downMbps: 200,
  upMbps: 50,
  loss: 0.005,
  lossBurst: 1,
  queue: { ms: 300 },
  udp: 'open',
  seed: 11,
};

function total({ windows }: Measured, of: 'rounds' | 'packets' | 'lossEvents'): number {
  return windows.reduce((sum, window) => sum + window[of], 0);
}

/** Standard deviations between the loss events and those of independent losses, 1 − (1 − p)^packets a round. */
function deviation({ windows }: Measured, loss: number): number {
  let excess = 0;
  let variance = 0;
  for (const { rounds, packets, lossEvents } of windows) {
    const chance = 1 - (1 - loss) ** (packets / rounds);
    excess += lossEvents - rounds * chance;
    variance += rounds * chance * (1 - chance);
  }
  return excess / Math.sqrt(variance);
}

describe.skipIf(obstacle)('p(cwnd) at real senders', { timeout: 60_000 }, () => {
  test.each(['tcp_probe', 'tcp_info'] as const)(
    'with independent losses a round loses with 1 − (1 − p)^cwnd, by %s',
    async (sampler) => {
      const measured = await collectPcwnd({
        network: LINK,
        congestionControl: 'cubic',
        connections: 6,
        seconds: 4,
        sampler,
      });
      if (measured.reason === undefined) expect(measured.sampler).toBe(sampler);
      else expect(measured).toMatchObject({ sampler: 'tcp_info', reason: expect.stringMatching(/./) });
      expect(measured.down.drops).toMatchObject({ queue: 0, device: 0 });
      expect(measured.lostSamples).toBe(0);
      expect(total(measured, 'rounds')).toBeGreaterThan(300);
      // One round in 16,000 runs is further off by chance.
      expect(Math.abs(deviation(measured, LINK.loss))).toBeLessThan(4);
      // The senders fill their windows, so that packets stand for cwnd.
      const windows = measured.windows.reduce((sum, { cwnd, rounds }) => sum + cwnd * rounds, 0);
      expect(total(measured, 'packets') / windows).toBeGreaterThan(0.95);
    },
  );

  test('a short queue overflows where the window is what path and queue hold', async ({ skip }) => {
    // 33 packets of 1500 bytes on the path, 33 in the queue.
    const network: Network = { ...LINK, downMbps: 20, upMbps: 20, loss: 0, queue: { bdp: 1 } };
    const measured = await collectPcwnd({ network, congestionControl: 'reno', connections: 1, seconds: 6 });
    skip(measured.scheduling !== 'fifo', 'without real-time scheduling a busy machine makes bursts');
    const below = measured.windows.filter(({ cwnd }) => cwnd < 60);
    const above = measured.windows.filter(({ cwnd }) => cwnd >= 60);
    const rate = (windows: Measured['windows']) =>
      total({ ...measured, windows }, 'lossEvents') / total({ ...measured, windows }, 'rounds');
    expect(total({ ...measured, windows: below }, 'rounds')).toBeGreaterThan(50);
    expect(rate(below)).toBeLessThan(0.03);
    expect(rate(above)).toBeGreaterThan(0.04);
    expect(Math.max(...above.map(({ lossEvents, rounds }) => lossEvents / rounds))).toBe(1);
    expect(measured.down.drops).toMatchObject({ loss: 0, device: 0 });
  });

  test('says in one line what cannot be used, and stops when told', async () => {
    const options = { network: LINK, congestionControl: 'cubic', connections: 1, seconds: 30 } as const;
    await expect(collectPcwnd({ ...options, connections: 0 })).rejects.toMatchObject({
      message: expect.stringMatching(/connections: expected 1 to 100, got 0$/),
      exitCode: 2,
    });
    const stop = new AbortController();
    const began = performance.now();
    const collecting = collectPcwnd({
      ...options,
      signal: stop.signal,
      onProgress: () => stop.abort(new Error('enough')),
    });
    await expect(collecting).rejects.toThrow('enough');
    expect(performance.now() - began).toBeLessThan(15_000);
  });
});
