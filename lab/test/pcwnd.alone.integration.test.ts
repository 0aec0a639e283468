import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { LAB_BINARY } from '../src/client/build.ts';
import { labObstacle } from '../src/client/lab.ts';
import type { LabNetwork } from '../src/client/networks.ts';
import { collectPcwnd, type Measured } from '../src/pcwnd/collect.ts';
import { measureUntil } from './attempts.ts';

const obstacle = await labObstacle();
if (obstacle) console.warn(`Skipping the integration tests of p(cwnd): ${obstacle}`);

const LINK: LabNetwork = {
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

const sum = (windows: Measured['windows'], of: Counted): number =>
  windows.reduce((total, window) => total + window[of], 0);
const total = ({ windows }: Measured, of: Counted): number => sum(windows, of);

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

describe.skipIf(obstacle)('p(cwnd) at real senders', { timeout: 120_000 }, () => {
  test.each(['tcp_probe', 'tcp_info'] as const)(
    'with independent losses a round loses with 1 − (1 − p)^cwnd, by %s',
    async (sampler) => {
      const measured = await measureUntil(
        () =>
          collectPcwnd({ network: LINK, congestionControl: 'cubic', connections: 6, seconds: 4, sampler }),
        // A machine that is busy for long loses samples and packets of its own, and leaves rounds out.
        ({ lostSamples, down, windows }) =>
          lostSamples === 0 && down.drops.queue + down.drops.device === 0 && sum(windows, 'rounds') > 300,
      );
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
    const network: LabNetwork = { ...LINK, downMbps: 20, upMbps: 20, loss: 0, queue: { bdp: 1 } };
    const rate = (windows: Measured['windows']) => sum(windows, 'lossEvents') / sum(windows, 'rounds');
    const halves = ({ windows }: Measured) => ({
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
    expect(performance.now() - began).toBeLessThan(25_000);
  });

  test('removes the trace that a killed run left behind', async ({ skip }) => {
    skip(process.getuid?.() !== 0, 'only root can trace');
    const dir = await mkdtemp(join(tmpdir(), 'hopwise-pcwnd-'));
    const options = { network: LINK, congestionControl: 'cubic', connections: 1 } as const;
    try {
      const config = join(dir, 'pcwnd.json');
      await writeFile(config, JSON.stringify({ ...options, seconds: 30 }));
      const killed = spawn(LAB_BINARY, ['pcwnd', '--config', config], { stdio: ['pipe', 'pipe', 'inherit'] });
      // Its first progress.
      await once(killed.stdout, 'data');
      const children = (await readFile(`/proc/${killed.pid}/task/${killed.pid}/children`, 'utf8')).trim();
      const instances = children.split(' ').map((pid) => `hopwise-pcwnd-${pid}`);
      const left = (await traceInstances())?.filter((name) => instances.includes(name)) ?? [];
      killed.kill('SIGKILL');
      await once(killed, 'close');
      skip(left.length === 0, 'this machine has no tracefs');
      // The kernel takes the killed process's files back a moment later.
      await expect
        .poll(
          async () => {
            // Any lab does, and whoever asks whether there can be one.
            expect(await labObstacle()).toBeNull();
            return (await traceInstances())?.filter((name) => left.includes(name));
          },
          { timeout: 30_000 },
        )
        .toEqual([]);
    } finally {
      await rm(dir, { recursive: true });
    }
  });
});

/** Null without tracefs. Looks from a mount namespace of its own, so that nothing stays mounted. */
async function traceInstances(): Promise<string[] | null> {
  const look =
    'cd /sys/kernel/tracing && { [ -d instances ] || mount -t tracefs tracefs . && cd /sys/kernel/tracing; } && ls instances';
  try {
    const { stdout } = await promisify(execFile)('unshare', ['--mount', 'sh', '-c', look]);
    return stdout.split('\n').filter(Boolean);
  } catch {
    return null;
  }
}
