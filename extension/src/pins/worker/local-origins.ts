/** Origins without a public address that the user has allowed to be pinned. Kept until the user removes them. */
import { originSchema, type PinState } from '@hopwise/contract';
import * as z from 'zod/mini';
import { ownStorage } from '../../storage/own-storage.ts';

const KEY = 'local-origins';
const storedSchema = z.array(originSchema);

export async function loadLocalOrigins(): Promise<string[]> {
  const stored = storedSchema.safeParse((await ownStorage.get(KEY))[KEY]);
  return stored.success ? stored.data : [];
}

/** With those that the command line has pinned, in alphabetical order. */
export async function listLocalOrigins(pins: readonly PinState[]): Promise<string[]> {
  const pinned = pins.filter(({ allowLocal }) => allowLocal).map(({ origin }) => origin);
  return [...new Set([...(await loadLocalOrigins()), ...pinned])].sort();
}

export async function allowLocalOrigin(origin: string): Promise<void> {
  const origins = new Set(await loadLocalOrigins()).add(origin);
  await ownStorage.set({ [KEY]: [...origins] });
}

export async function disallowLocalOrigin(origin: string): Promise<void> {
  const origins = await loadLocalOrigins();
  await ownStorage.set({ [KEY]: origins.filter((one) => one !== origin) });
}
