/** How much time pins have saved, by day: sums alone, without what was loaded. */
import { DAY_MS } from '@hopwise/contract';
import * as z from 'zod/mini';
import { ownStorage } from './own-storage.ts';

const KEY = 'saved-time';
/** Today and the six days before. */
const DAYS = 7;

const storedSchema = z.catch(
  z.record(
    z.string().check(z.regex(/^\d{4}-\d\d-\d\d$/)),
    z.object({
      /** Against the usual load time without pins; negative where pins lost time. */
      savedMs: z.number(),
      loads: z.int().check(z.nonnegative()),
      /** Loads of which the time without pins was estimated; absent in what an earlier version stored. */
      estimated: z._default(z.int().check(z.nonnegative()), 0),
    }),
  ),
  {},
);

/** Time that pins saved in the last seven days, and in how many loads. */
export interface SavedTime {
  savedMs: number;
  loads: number;
  /** Loads of which the time without pins was estimated. */
  estimated: number;
}

export async function readSavedTime(nowMs = Date.now()): Promise<SavedTime> {
  const days = Object.values(await readDays(nowMs));
  return {
    savedMs: days.reduce((sum, { savedMs }) => sum + savedMs, 0),
    loads: days.reduce((sum, { loads }) => sum + loads, 0),
    estimated: days.reduce((sum, { estimated }) => sum + estimated, 0),
  };
}

/** Adds a load. @param savedMs negative for a loss */
export async function addSavedTime(
  { savedMs, isEstimated }: { savedMs: number; isEstimated: boolean },
  nowMs = Date.now(),
): Promise<void> {
  const days = await readDays(nowMs);
  const today = days[dayOf(nowMs)] ?? { savedMs: 0, loads: 0, estimated: 0 };
  days[dayOf(nowMs)] = {
    savedMs: today.savedMs + savedMs,
    loads: today.loads + 1,
    estimated: today.estimated + (isEstimated ? 1 : 0),
  };
  await ownStorage.set({ [KEY]: days });
}

export function removeSavedTime(): Promise<void> {
  return ownStorage.remove(KEY);
}

/** Days that count, newest or not; what cannot be read is left out. */
async function readDays(nowMs: number): Promise<Record<string, SavedTime>> {
  const stored = storedSchema.parse((await ownStorage.get(KEY))[KEY] ?? {});
  const counted = Array.from({ length: DAYS }, (_, index) => dayOf(nowMs - index * DAY_MS));
  return Object.fromEntries(Object.entries(stored).filter(([day]) => counted.includes(day)));
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
