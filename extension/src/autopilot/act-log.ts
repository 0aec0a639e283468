import * as z from 'zod/mini';
import { type Act, actSchema, isOpen } from './act.ts';

const KEY = 'autopilot-log';

/** Older acts that have ended are removed. */
export const MAX_ACTS = 200;

/** Everything that the autopilot did, oldest first, in `storage.local`. */
export async function readActs(): Promise<Act[]> {
  const stored = z.array(actSchema).safeParse((await chrome.storage.local.get(KEY))[KEY]);
  return stored.success ? stored.data : [];
}

/** @param oldestMs acts that ended before this time, milliseconds since 1970, are removed */
export async function saveActs(acts: readonly Act[], oldestMs: number): Promise<void> {
  const recent = acts.filter((act) => isOpen(act) || act.end!.atMs >= oldestMs);
  const surplus = new Set(
    recent.filter((act) => !isOpen(act)).slice(0, Math.max(0, recent.length - MAX_ACTS)),
  );
  const kept = recent.filter((act) => !surplus.has(act));
  if (kept.length === 0) await chrome.storage.local.remove(KEY);
  else await chrome.storage.local.set({ [KEY]: kept });
}
