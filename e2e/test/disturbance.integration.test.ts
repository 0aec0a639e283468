import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { LabStats } from '../src/lab/lab.ts';
import { disturbedBy, processTimes, watchDisturbance } from '../src/truth/disturbance.ts';

const BURN = 'const end = Date.now() + 1500; while (Date.now() < end);';
/** Of either direction; the watch reads nothing else. */
const lab = (downMs: number, upMs: number) => ({
  stats: async () =>
    ({ down: { latenessMs: { max: downMs } }, up: { latenessMs: { max: upMs } } }) as unknown as LabStats,
});

/** Milliseconds of processor time that a process has used. */
async function cpuMs(pid: number): Promise<number> {
  return Number((await readFile(`/proc/${pid}/schedstat`, 'utf8')).split(' ')[0]) / 1e6;
}

describe('watchDisturbance', () => {
  it("sees a foreign process's time, and not that of its own family", async () => {
    // The shell ends at once, so that what it started is no child of this process any more.
    const foreign = spawn('/bin/sh', ['-c', `"${process.execPath}" -e '${BURN}' & echo $!`]);
    const [text] = (await once(foreign.stdout, 'data')) as [Buffer];
    const pid = Number(text.toString().trim());
    await sleep(300);
    const watch = await watchDisturbance({ lab: lab(2, 5) });
    const startedAt = performance.now();
    const [before, othersBefore] = [await cpuMs(pid), othersTicks(pid)];
    await sleep(800);
    const [after, othersAfter] = [await cpuMs(pid), othersTicks(pid)];
    const disturbance = await watch.end();
    const { latenessMs, foreignCpu, windowMs } = disturbance;
    const durationMs = performance.now() - startedAt;
    expect(windowMs).toBeGreaterThan(790);
    expect(windowMs).toBeLessThanOrEqual(durationMs + 50);
    const burnt = (after - before) / durationMs;
    const others = (Math.max(0, othersAfter - othersBefore) * 10) / durationMs;
    expect(latenessMs).toBe(5);
    expect(burnt).toBeGreaterThan(0.1);
    expect(foreignCpu).toBeGreaterThan(burnt * 0.85 - 0.03);
    // What else runs on the machine counts as well.
    expect(foreignCpu).toBeLessThan(burnt + others * 1.3 + 0.3);
    expect(disturbedBy(disturbance)).toHaveLength(1);
  });

  it('does not count a process that it started itself', async () => {
    const own = spawn(process.execPath, ['-e', BURN]);
    await sleep(300);
    const watch = await watchDisturbance({ lab: lab(0, 0) });
    const startedAt = performance.now();
    const [before, othersBefore] = [await cpuMs(own.pid!), othersTicks(own.pid!)];
    await sleep(800);
    const [after, othersAfter] = [await cpuMs(own.pid!), othersTicks(own.pid!)];
    const { foreignCpu } = await watch.end();
    const durationMs = performance.now() - startedAt;
    expect((after - before) / durationMs).toBeGreaterThan(0.1);
    const others = (Math.max(0, othersAfter - othersBefore) * 10) / durationMs;
    expect(foreignCpu).toBeLessThan(others * 1.3 + 0.1);
    await once(own, 'close');
  });

  it('costs less than 10 ms of processor time among a hundred processes, on a busy machine', async () => {
    const costs: number[] = [];
    for (let round = 0; round < 10; round++) {
      const start = process.cpuUsage();
      await (await watchDisturbance({ lab: lab(0, 0) })).end();
      const { user, system } = process.cpuUsage(start);
      costs.push((user + system) / 1000);
    }
    const perProcessMs = costs.toSorted((a, b) => a - b)[5]! / processTimes().processes.size;
    expect(perProcessMs * 100).toBeLessThan(10);
  });
});

/** Ticks of every process but this one, its family and `pid`. */
function othersTicks(pid: number): number {
  const { processes } = processTimes();
  const isOwn = (one: number): boolean => {
    if (one === process.pid || one === pid) return true;
    const parent = processes.get(one)?.parent;
    return parent !== undefined && isOwn(parent);
  };
  let ticks = 0;
  for (const [one, { ticks: used, endedTicks }] of processes) if (!isOwn(one)) ticks += used + endedTicks;
  return ticks;
}
