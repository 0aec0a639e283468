import { isLocalAddress, type Recording } from '@hopwise/contract';
import type { StoredLoad } from './stored-load.ts';

export type UsedNetwork = NonNullable<StoredLoad['network']>;

/**
 * Which network a load used.
 *
 * @param periods of pins that were active during the load: the browser records the helper's address for them. The helper connects to
 *   public addresses only, unless the user has allowed others
 */
export function usedNetwork(
  { requests }: Pick<Recording, 'requests'>,
  periods: readonly { origin: string; allowsLocal: boolean }[] = [],
): UsedNetwork {
  const sent = requests.filter(({ fromCache, protocol, status }) => !fromCache && protocol && status !== 0);
  if (sent.some(({ remoteIp }) => remoteIp !== null && isLocalAddress(remoteIp))) return 'local';
  const local = new Set(periods.filter(({ allowsLocal }) => allowsLocal).map(({ origin }) => origin));
  const isUnknown = sent.some(({ remoteIp, url }) => remoteIp === null && local.has(new URL(url).origin));
  return sent.length === 0 || isUnknown ? 'unknown' : 'internet';
}

/** Which network a stored load used. */
export const networkOf = ({ network, recording }: Pick<StoredLoad, 'network' | 'recording'>): UsedNetwork =>
  network ?? usedNetwork(recording);
