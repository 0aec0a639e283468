/** How much data verifications have transferred today, so that it stays within what the user allows. */
import * as z from 'zod/mini';
import { ownStorage } from './own-storage.ts';

const KEY = 'verification-data';

const schema = z.object({
  /** The day in local time, such as `2026-11-23`. */
  day: z.string(),
  bytes: z.number().check(z.nonnegative()),
});

/** Bytes that verifications have transferred today. */
export async function readBytesToday(): Promise<number> {
  const stored = schema.safeParse((await ownStorage.get(KEY))[KEY]);
  return stored.success && stored.data.day === today() ? stored.data.bytes : 0;
}

export async function addBytes(bytes: number): Promise<void> {
  const sum = (await readBytesToday()) + bytes;
  await ownStorage.set({ [KEY]: { day: today(), bytes: sum } });
}

/** The Swedish form of a date is that of ISO 8601. */
const today = (): string => new Date().toLocaleDateString('sv-SE');
