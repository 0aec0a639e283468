import type { PinState } from '@hopwise/contract';
import { ownStorage } from '../../storage/own-storage.ts';

const KEY = 'pins';
const HAS_PERSISTENT_KEY = 'pins-persistent';

/** Pins that the next worker recreates if the browser stops this one. Kept until the browser closes. */
interface StoredPins {
  pins: PinState[];
  /** Sites that a pin of every origin leaves to the browser. */
  leftSites: string[];
}

export async function loadPins(): Promise<StoredPins> {
  const stored = (await chrome.storage.session.get(KEY))[KEY] as Partial<StoredPins> | undefined;
  return { pins: [], leftSites: [], ...stored };
}

export async function savePins(stored: StoredPins): Promise<void> {
  await chrome.storage.session.set({ [KEY]: stored });
}

/** Whether the helper has pins that outlive the browser. Only then is it started together with the browser. */
export async function hasPersistentPins(): Promise<boolean> {
  return (await ownStorage.get(HAS_PERSISTENT_KEY))[HAS_PERSISTENT_KEY] === true;
}

export async function setHasPersistentPins(has: boolean): Promise<void> {
  if (has === (await hasPersistentPins())) return;
  if (has) await ownStorage.set({ [HAS_PERSISTENT_KEY]: true });
  else await ownStorage.remove(HAS_PERSISTENT_KEY);
}
