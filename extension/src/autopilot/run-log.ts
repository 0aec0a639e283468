import * as z from 'zod/mini';
import { type AutopilotRun, autopilotRunSchema, isRunning } from './autopilot-run.ts';

const KEY = 'autopilot-log';

/** Older runs that have ended are removed. */
export const MAX_RUNS = 200;

/** Everything that the autopilot did, oldest first, in `storage.local`. */
export async function readRuns(): Promise<AutopilotRun[]> {
  const stored = z.array(autopilotRunSchema).safeParse((await chrome.storage.local.get(KEY))[KEY]);
  return stored.success ? stored.data : [];
}

/** @param oldestMs runs that ended before this time, milliseconds since 1970, are removed */
export async function saveRuns(runs: readonly AutopilotRun[], oldestMs: number): Promise<void> {
  const recent = runs.filter((run) => isRunning(run) || run.end!.atMs >= oldestMs);
  const surplus = new Set(
    recent.filter((run) => !isRunning(run)).slice(0, Math.max(0, recent.length - MAX_RUNS)),
  );
  const kept = recent.filter((run) => !surplus.has(run));
  if (kept.length === 0) await chrome.storage.local.remove(KEY);
  else await chrome.storage.local.set({ [KEY]: kept });
}
