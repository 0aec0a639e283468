import type { PinState } from '@hopwise/contract';

const KEY = 'pins';
const HAS_PERSISTENT_KEY = 'pins-persistent';

/** What is remembered of pins while the browser runs, should the worker be started anew. */
export interface KeptPins {
  pins: PinState[];
}

export async function keptPins(): Promise<KeptPins> {
  const kept = (await chrome.storage.session.get(KEY))[KEY] as KeptPins | undefined;
  return kept ?? { pins: [] };
}

export async function keepPins(kept: KeptPins): Promise<void> {
  await chrome.storage.session.set({ [KEY]: kept });
}

/** Whether the helper has pins that outlive the browser: only then is it asked for pins when the browser starts. */
export async function hasPersistentPins(): Promise<boolean> {
  return (await chrome.storage.local.get(HAS_PERSISTENT_KEY))[HAS_PERSISTENT_KEY] === true;
}

export async function setHasPersistentPins(has: boolean): Promise<void> {
  if (has === (await hasPersistentPins())) return;
  if (has) await chrome.storage.local.set({ [HAS_PERSISTENT_KEY]: true });
  else await chrome.storage.local.remove(HAS_PERSISTENT_KEY);
}
