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
      /** Further loads with pins, of which it is not known what they take without; absent in what an earlier version stored. */
      uncompared: z._default(z.int().check(z.nonnegative()), 0),
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
  /** Further loads with pins, of pages that were not loaded without them on the network. */
  uncompared: number;
}

const NOTHING: SavedTime = { savedMs: 0, loads: 0, estimated: 0, uncompared: 0 };

export async function readSavedTime(nowMs = Date.now()): Promise<SavedTime> {
  return Object.values(await readDays(nowMs)).reduce(addUp, NOTHING);
}

/** Adds a load that is compared with what its page takes without pins. @param savedMs negative for a loss */
export function addSavedTime(
  { savedMs, isEstimated }: { savedMs: number; isEstimated: boolean },
  nowMs = Date.now(),
): Promise<void> {
  return addLoad({ savedMs, loads: 1, estimated: isEstimated ? 1 : 0, uncompared: 0 }, nowMs);
}

/** Adds a load with pins of which it is not known what it would have taken without. */
export function addUncomparedLoad(nowMs = Date.now()): Promise<void> {
  return addLoad({ ...NOTHING, uncompared: 1 }, nowMs);
}

async function addLoad(load: SavedTime, nowMs: number): Promise<void> {
  const days = await readDays(nowMs);
  const day = dayOf(nowMs);
  await ownStorage.set({ [KEY]: { ...days, [day]: addUp(days[day] ?? NOTHING, load) } });
}

const addUp = (a: SavedTime, b: SavedTime): SavedTime => ({
  savedMs: a.savedMs + b.savedMs,
  loads: a.loads + b.loads,
  estimated: a.estimated + b.estimated,
  uncompared: a.uncompared + b.uncompared,
});

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
