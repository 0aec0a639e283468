/** The key by which the helper recognises the network that the browser is on. Kept until the browser closes. */
import { networkKeySchema } from '@hopwise/contract';
import * as z from 'zod/mini';

const KEY = 'network-key';

const storedSchema = z.object({
  /** Null when the network is not recognised. */
  key: z.nullable(networkKeySchema),
  /** When the helper is to be asked again, milliseconds since 1970. */
  askAgainAtMs: z.number(),
});

export type FoundNetwork = z.infer<typeof storedSchema>;

/** Null when the helper has not been asked, or the network has changed since. */
export async function loadFoundNetwork(): Promise<FoundNetwork | null> {
  const stored = storedSchema.safeParse((await chrome.storage.session.get(KEY))[KEY]);
  return stored.success ? stored.data : null;
}

export function saveFoundNetwork(found: FoundNetwork): Promise<void> {
  return chrome.storage.session.set({ [KEY]: found });
}

export function removeFoundNetwork(): Promise<void> {
  return chrome.storage.session.remove(KEY);
}

/** The key of the network that the browser is on; null when it is not recognised. */
export async function readNetworkKey(): Promise<string | null> {
  return (await loadFoundNetwork())?.key ?? null;
}
