/** The key by which the helper recognises the network that the browser is on. Kept until the browser closes. */
import { networkKeySchema } from '@hopwise/contract';
import * as z from 'zod/mini';
import { StoredItem } from './stored-item.ts';

const storedSchema = z.object({
  /** Null when the network is not recognised. */
  key: z.nullable(networkKeySchema),
  /** When the helper is to be asked again, milliseconds since 1970. */
  askAgainAtMs: z.number(),
  /** When a page was last loaded on it, to a minute, milliseconds since 1970. */
  usedAtMs: z.number(),
});

/** The name of a network that the helper does not recognise, among the keys of those that it does. */
export const UNRECOGNISED = '';

/** The name of the network that a load, or what came of one, was on. */
export const nameNetwork = ({ networkKey }: { networkKey?: string | null | undefined }): string =>
  networkKey ?? UNRECOGNISED;

type FoundNetwork = z.infer<typeof storedSchema>;

const stored = new StoredItem<FoundNetwork | null>('session', 'network-key', (value) => {
  const found = storedSchema.safeParse(value);
  return found.success ? found.data : null;
});

/** Null when the helper has not been asked, or the network has changed since. */
export const loadFoundNetwork = (): Promise<FoundNetwork | null> => stored.read();

export const saveFoundNetwork = (found: FoundNetwork): Promise<void> => stored.write(found);

export const removeFoundNetwork = (): Promise<void> => stored.remove();

/** The key of the network that the browser is on; null when it is not recognised. */
export async function readNetworkKey(): Promise<string | null> {
  return (await loadFoundNetwork())?.key ?? null;
}

/** The name of the network that the browser is on. */
export const readNetworkName = async (): Promise<string> => (await readNetworkKey()) ?? UNRECOGNISED;
