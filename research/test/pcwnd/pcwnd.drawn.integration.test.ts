import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { LAB_BINARY } from '../../../lab/src/client/build.ts';
import { labObstacle } from '../../../lab/src/client/lab.ts';
import { type CollectProgress, collectPcwnd } from '../../src/pcwnd/collect.ts';
import { LINK, sum } from './pcwnd-losses.ts';

const obstacle = await labObstacle();
if (obstacle) console.warn(`Skipping the integration tests of p(cwnd): ${obstacle}`);

describe.skipIf(obstacle)('p(cwnd) at real senders', () => {
  test('shows the sender, and what is new since the last progress', async () => {
    const shown: CollectProgress[] = [];
    const { windows } = await collectPcwnd({
      network: LINK,
      congestionControl: 'cubic',
      connections: 2,
      seconds: 2,
      progressMs: 200,
      onProgress: (progress) => shown.push(progress),
    });
    expect(shown.length).toBeGreaterThanOrEqual(8);
    for (const [index, { seconds, rounds, connections, windows }] of shown.entries()) {
      const before = shown[index - 1];
      expect(seconds).toBeGreaterThan(before?.seconds ?? 0);
      expect(sum(windows, 'rounds')).toBe(rounds - (before?.rounds ?? 0));
      expect(connections).toHaveLength(2);
      for (const [number, { cwnd, rttMs, deliveredBytes }] of connections.entries()) {
        expect(cwnd).toBeGreaterThan(0);
        expect(rttMs).toBeGreaterThan(0.9 * LINK.rttMs);
        expect(deliveredBytes).toBeGreaterThanOrEqual(before?.connections[number]?.deliveredBytes ?? 0);
      }
    }
    expect(sum(windows, 'rounds')).toBeGreaterThanOrEqual(shown.at(-1)!.rounds);
  });

  test('changes the link during the transfer', async () => {
    const shown: CollectProgress[] = [];
    await collectPcwnd({
      network: LINK,
      changes: [{ seconds: 1.5, network: { ...LINK, rttMs: LINK.rttMs + 150 } }],
      congestionControl: 'cubic',
      connections: 1,
      seconds: 5,
      progressMs: 250,
      onProgress: (progress) => shown.push(progress),
    });
    const rtts = (fromSeconds: number, toSeconds: number) =>
      shown
        .filter(({ seconds }) => seconds >= fromSeconds && seconds < toSeconds)
        .map(({ connections: [sender] }) => sender!.rttMs);
    expect(Math.min(...rtts(0, 1.4))).toBeLessThan(LINK.rttMs + 100);
    // The smoothed round trip follows within some round trips.
    expect(Math.min(...rtts(4, 6))).toBeGreaterThan(LINK.rttMs + 130);
  });

  test('reports unusable input in one line, and stops on abort', async () => {
    const options = { network: LINK, congestionControl: 'cubic', connections: 1, seconds: 30 } as const;
    await expect(collectPcwnd({ ...options, connections: 0 })).rejects.toMatchObject({
      message: expect.stringMatching(/connections: expected 1 to 100, got 0$/),
      exitCode: 2,
    });
    await expect(
      collectPcwnd({ ...options, changes: [{ seconds: 30, network: LINK }] }),
    ).rejects.toMatchObject({
      message: expect.stringMatching(/changes\[0\]\.seconds: expected more than 0 and less than 30, got 30$/),
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

  test('removes the trace instance of a killed run', async ({ skip }) => {
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
      // The kernel closes the killed process's files shortly after.
      await expect
        .poll(
          async () => {
            // Every lab removes it, and so does the check whether a lab can start.
            expect(await labObstacle()).toBeNull();
            return (await traceInstances())?.filter((name) => left.includes(name));
          },
          { timeout: 60_000 },
        )
        .toEqual([]);
    } finally {
      await rm(dir, { recursive: true });
    }
  });
});

/** Null without tracefs. Runs in its own mount namespace, so that nothing stays mounted. */
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
