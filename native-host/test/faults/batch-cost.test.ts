import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { processorMs } from '../support/processor-time.ts';
import { BatchCost, describeCost, faultsOfCost } from './batch-cost.ts';
import { Patience } from './patience.ts';

const BUSY_MS = 200;

/** Starts a process that is busy without end, and returns it once it has been for a while. */
async function startBusy(): Promise<{ pid: number; end: () => Promise<void> }> {
  const child = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
  const pid = child.pid!;
  while (processorMs(pid) < BUSY_MS) await new Promise((resolve) => setTimeout(resolve, 10));
  return {
    pid,
    end: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

it('adds up the processor time of processes, of those that have ended, too', async () => {
  const first = await startBusy();
  const alive = new Set([first.pid]);
  const processes = (): number[] => [...alive];
  const cost = new BatchCost(processes, new Patience(processes));
  // As long as it takes to look at it.
  await new Promise((resolve) => setTimeout(resolve, 250));
  await first.end();
  alive.clear();
  const second = await startBusy();
  alive.add(second.pid);
  expect(cost.stop().processorMs).toBeGreaterThanOrEqual(2 * BUSY_MS);
  expect(cost.over.aborted).toBe(false);
  await second.end();
});

it('calls too much of either a fault', () => {
  expect(faultsOfCost({ elapsedMs: 150_000, waitedMs: 40_000, processorMs: 2_500 })).toEqual([]);
  expect(faultsOfCost({ elapsedMs: 275_000, waitedMs: 1_000, processorMs: 130_000 })).toEqual([
    'host and engine took 130 s of processor time, at most 15 s are expected',
    'the batch took 275 s, at most 120 s are expected',
  ]);
  expect(faultsOfCost({ elapsedMs: 1_020_000, waitedMs: 1_100_000, processorMs: 6_000 })).toEqual([
    'the batch took 1020 s, at most 600 s are expected on a machine however busy',
  ]);
  expect(describeCost({ elapsedMs: 38_400, waitedMs: 900, processorMs: 2_100 })).toBe(
    'took 38 s and 2 s of processor time, for which it waited 1 s',
  );
});
