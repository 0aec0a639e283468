import { describe, expect, test } from 'vitest';
import { labObstacle } from '../../../lab/src/client/lab.ts';
import type { LabNetwork } from '../../../lab/src/client/networks.ts';
import { measureUntil } from '../../../lab/test/support/attempts.ts';
import { collectPcwnd, type PcwndMeasurement } from '../../src/pcwnd/collect.ts';
import { expectIndependentLosses, LINK, sum } from './pcwnd-losses.ts';

const obstacle = await labObstacle();
if (obstacle) console.warn(`Skipping the long tests of p(cwnd): ${obstacle}`);

describe.skipIf(obstacle)('p(cwnd) at real senders', () => {
  test('with independent losses a round loses with 1 − (1 − p)^cwnd, by tcp_info', () =>
    expectIndependentLosses('tcp_info'));

  test('a short queue overflows when the window equals the capacity of path and queue', async ({ skip }) => {
    // 33 packets of 1500 bytes on the path, 33 in the queue.
    const network: LabNetwork = { ...LINK, downMbps: 20, upMbps: 20, loss: 0, queue: { bdp: 1 } };
    const rate = (windows: PcwndMeasurement['windows']) =>
      sum(windows, 'lossEvents') / sum(windows, 'rounds');
    const halves = ({ windows }: PcwndMeasurement) => ({
      below: windows.filter(({ cwnd }) => cwnd < 60),
      above: windows.filter(({ cwnd }) => cwnd >= 60),
    });
    const measured = await measureUntil(
      () => collectPcwnd({ network, congestionControl: 'reno', connections: 1, seconds: 6 }),
      (one) => one.scheduling !== 'fifo' || rate(halves(one).below) < 0.03,
    );
    skip(measured.scheduling !== 'fifo', 'without real-time scheduling a busy machine makes bursts');
    const { below, above } = halves(measured);
    expect(sum(below, 'rounds')).toBeGreaterThan(50);
    expect(rate(below)).toBeLessThan(0.03);
    expect(rate(above)).toBeGreaterThan(0.04);
    expect(Math.max(...above.map(({ lossEvents, rounds }) => lossEvents / rounds))).toBe(1);
    expect(measured.down.drops).toMatchObject({ loss: 0, device: 0 });
  });
});
