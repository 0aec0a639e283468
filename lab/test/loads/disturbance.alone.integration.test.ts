import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { LabStats } from '../../src/client/lab.ts';
import { disturbedBy, processTimes, watchDisturbance } from '../../src/loads/disturbance.ts';

const BURN = 'console.log(process.pid); for (;;);';
/** Statistics of either direction; the watch reads nothing else. */
const lab = (downMs: number, upMs: number) => ({
  stats: async () =>
    ({ down: { latenessMs: { max: downMs } }, up: { latenessMs: { max: upMs } } }) as unknown as LabStats,
});

/** Milliseconds of processor time that a process has used. */
async function cpuMs(pid: number): Promise<number> {
  return Number((await readFile(`/proc/${pid}/schedstat`, 'utf8')).split(' ')[0]) / 1e6;
}

/** Starts a process that uses a whole processor until the end of the test; returns its id. @param child prints it */
async function burning(child: ChildProcess): Promise<number> {
  const [text] = (await once(child.stdout!, 'data')) as [Buffer];
  const pid = Number(text.toString().trim());
  onTestFinished(() => void process.kill(pid, 'SIGKILL'));
  return pid;
}

/**
 * Results of two simultaneous watches over 800 ms, one of which counts `pid` as the load's own, and the fraction of a processor
 * that `pid` used. Other work on the machine affects both alike.
 */
async function watched(pid: number) {
  const every = await watchDisturbance({ lab: lab(2, 5) });
  const butOne = await watchDisturbance({ lab: lab(2, 5), browserPids: () => [pid] });
  const before = await cpuMs(pid);
  await sleep(800);
  const usedMs = (await cpuMs(pid)) - before;
  const [all, others] = [await every.end(), await butOne.end()];
  return { all, others, burnt: usedMs / all.windowMs };
}

describe('watchDisturbance', () => {
  it("sees a foreign process's time", async () => {
    // The shell ends at once, so that its child no longer descends from this process.
    const shell = spawn('/bin/sh', ['-c', `"${process.execPath}" -e '${BURN}' &`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(shell, 'exit');
    const pid = await burning(shell);
    await exited;
    const { all, others, burnt } = await watched(pid);
    expect(all.windowMs).toBeGreaterThan(790);
    expect(all.latenessMs).toBe(5);
    expect(burnt).toBeGreaterThan(0.1);
    expect(Math.abs(all.foreignCpu - others.foreignCpu - burnt)).toBeLessThan(0.15);
    expect(disturbedBy(all)).toHaveLength(1);
  });

  it('does not count a process that it started itself', async () => {
    const own = spawn(process.execPath, ['-e', BURN], { stdio: ['ignore', 'pipe', 'inherit'] });
    const { all, others, burnt } = await watched(await burning(own));
    expect(burnt).toBeGreaterThan(0.1);
    expect(Math.abs(all.foreignCpu - others.foreignCpu)).toBeLessThan(0.1);
  });

  it('costs the processor little more than its two readings of all processes', async () => {
    const cost = async (work: () => unknown) => {
      const start = process.cpuUsage();
      await work();
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1000;
    };
    let watchMs = Number.POSITIVE_INFINITY;
    let readingMs = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 20; round++) {
      watchMs = Math.min(watchMs, await cost(async () => (await watchDisturbance({ lab: lab(0, 0) })).end()));
      readingMs = Math.min(readingMs, await cost(processTimes));
    }
    expect(watchMs).toBeLessThan(4 * readingMs + 2);
  });
});
