import * as z from 'zod/mini';
import { StoredItem } from '../../storage/stored-item.ts';
import { type AutopilotRun, autopilotRunSchema, isRunning } from './autopilot-run.ts';

/** Older runs that have ended are removed. */
const MAX_RUNS = 200;

/** Everything that the autopilot did, oldest first. */
const stored = new StoredItem<AutopilotRun[]>('own', 'autopilot-log', (value) => {
  const runs = z.array(autopilotRunSchema).safeParse(value);
  return runs.success ? runs.data : [];
});

/** Everything that the autopilot did, oldest first; what has not ended as a copy, to be changed. */
export async function readRuns(): Promise<AutopilotRun[]> {
  return (await stored.read()).map((run) => (isRunning(run) ? structuredClone(run) : run));
}

/** @param oldestMs runs that ended before this time, milliseconds since 1970, are removed */
export async function saveRuns(runs: readonly AutopilotRun[], oldestMs: number): Promise<void> {
  const recent = runs.filter((run) => isRunning(run) || run.end!.atMs >= oldestMs);
  const surplus = new Set(
    recent.filter((run) => !isRunning(run)).slice(0, Math.max(0, recent.length - MAX_RUNS)),
  );
  const kept = recent.filter((run) => !surplus.has(run));
  if (kept.length === 0) await stored.remove();
  else await stored.write(kept);
}
