/** Which libcurl the helper found last. To look for one takes a process for each candidate, and browsers start the helper often. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DAY_MS } from '@hopwise/contract';
import * as z from 'zod/mini';
import { stateDirectory } from '../base/paths.ts';
import type { LibcurlCandidate } from './candidates.ts';

const rememberedSchema = z.object({
  path: z.string(),
  /** Milliseconds since 1970. */
  foundAtMs: z.number(),
});

const file = (): string => join(stateDirectory(), 'libcurl.json');

/** Remembers a libcurl that was found. Where it cannot be written, the next start looks for one again. */
export function rememberLibrary({ path }: LibcurlCandidate, nowMs = Date.now()): void {
  try {
    mkdirSync(dirname(file()), { recursive: true, mode: 0o700 });
    writeFileSync(file(), JSON.stringify({ path, foundAtMs: nowMs }), { mode: 0o600 });
  } catch {
    // A state folder that is read-only or full.
  }
}

/**
 * The candidates with the one first that was found within a day: later than that, an update of the system may have brought a better one.
 *
 * @param candidates in the order in which they are tried
 */
export function putRememberedFirst(
  candidates: readonly LibcurlCandidate[],
  nowMs = Date.now(),
): readonly LibcurlCandidate[] {
  const path = readPath(nowMs);
  const found = candidates.find((candidate) => candidate.path === path);
  return found === undefined ? candidates : [found, ...candidates.filter((each) => each !== found)];
}

function readPath(nowMs: number): string | null {
  let stored: unknown;
  try {
    stored = JSON.parse(readFileSync(file(), 'utf8'));
  } catch {
    return null;
  }
  const remembered = rememberedSchema.safeParse(stored);
  if (!remembered.success) return null;
  const { path, foundAtMs } = remembered.data;
  const isRecent = foundAtMs <= nowMs && nowMs - foundAtMs < DAY_MS;
  return isRecent ? path : null;
}
