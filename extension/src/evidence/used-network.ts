import { isLocalAddress, type Recording } from '@hopwise/contract';
import type { StoredLoad } from '../storage/loads.ts';

export type UsedNetwork = NonNullable<StoredLoad['network']>;

/**
 * Which network a load used.
 *
 * @param pins active ones, by origin: the browser records the helper's address for them. The helper connects to public addresses
 *   only, unless the user has allowed others
 */
export function usedNetwork(
  { requests }: Pick<Recording, 'requests'>,
  pins: ReadonlyMap<string, { allowsLocal: boolean }> = new Map(),
): UsedNetwork {
  const sent = requests.filter(({ fromCache, protocol, status }) => !fromCache && protocol && status !== 0);
  if (sent.some(({ remoteIp }) => remoteIp !== null && isLocalAddress(remoteIp))) return 'local';
  const isUnknown = sent.some(
    ({ remoteIp, url }) => remoteIp === null && pins.get(new URL(url).origin)?.allowsLocal,
  );
  return sent.length === 0 || isUnknown ? 'unknown' : 'internet';
}

/** Which network a stored load used. */
export const networkOf = ({ network, recording }: Pick<StoredLoad, 'network' | 'recording'>): UsedNetwork =>
  network ?? usedNetwork(recording);
