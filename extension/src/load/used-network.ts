import { isLocalAddress, isLocalHost, type RecordedRequest, type Recording } from '@hopwise/contract';
import type { StoredLoad } from './stored-load.ts';

export type UsedNetwork = NonNullable<StoredLoad['network']>;

/** Servers on the internet take longer to answer a handshake; those of this machine and of the local network do not. */
const MIN_INTERNET_RTT_MS = 1;

/**
 * Which network a load used, by the addresses of its servers, and where the browser did not report them by their names and by how soon
 * they answered.
 *
 * @param periods of pins that were active during the load: the browser records the helper's address for them. The helper connects to
 *   public addresses only, unless the user has allowed others
 */
export function usedNetwork(
  { requests }: Pick<Recording, 'requests'>,
  periods: readonly { origin: string; allowsLocal: boolean }[] = [],
): UsedNetwork {
  const sent = requests.filter(({ fromCache, protocol, status }) => !fromCache && protocol && status !== 0);
  if (sent.some(isLocal)) return 'local';
  const local = new Set(periods.filter(({ allowsLocal }) => allowsLocal).map(({ origin }) => origin));
  const isUnknown = sent.some(({ remoteIp, url }) => remoteIp === null && local.has(new URL(url).origin));
  return sent.length === 0 || isUnknown ? 'unknown' : 'internet';
}

function isLocal({ remoteIp, url, phases }: RecordedRequest): boolean {
  if (remoteIp !== null) return isLocalAddress(remoteIp);
  const { connectStartMs, secureStartMs, connectEndMs } = phases;
  const answeredMs = secureStartMs ?? connectEndMs;
  const isNear =
    connectStartMs !== null && answeredMs !== null && answeredMs - connectStartMs < MIN_INTERNET_RTT_MS;
  return isNear || isLocalHost(new URL(url).hostname);
}

/** Which network a stored load used. */
export const networkOf = ({ network, recording }: Pick<StoredLoad, 'network' | 'recording'>): UsedNetwork =>
  network ?? usedNetwork(recording);
