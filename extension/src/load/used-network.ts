import {
  groupBy,
  isLocalAddress,
  isLocalHost,
  type RecordedRequest,
  type Recording,
} from '@hopwise/contract';
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
  const sent = requests.filter(isAnsweredByServer);
  const byOrigin = groupBy(sent, ({ url }) => new URL(url).origin);
  if (sent.some(isLocal) || [...byOrigin.values()].some(isNear)) return 'local';
  const local = new Set(periods.filter(({ allowsLocal }) => allowsLocal).map(({ origin }) => origin));
  const isUnknown = sent.some(({ remoteIp, url }) => remoteIp === null && local.has(new URL(url).origin));
  return sent.length === 0 || isUnknown ? 'unknown' : 'internet';
}

/**
 * Whether a request surely reached a server. Of those that a service worker made for the page only the protocol is withheld; in recordings with
 * addresses others are without one too, which may be to this machine.
 */
const isAnsweredByServer = ({ fromCache, protocol, phases, remoteIp, status }: RecordedRequest): boolean =>
  !fromCache && status !== 0 && (protocol !== null || (remoteIp === null && phases.responseStartMs !== null));

const isLocal = ({ remoteIp, url }: RecordedRequest): boolean =>
  remoteIp === null ? isLocalHost(new URL(url).hostname) : isLocalAddress(remoteIp);

/** Whether an origin's server, of which the browser did not report the address, answered every handshake at once. */
function isNear(requests: readonly RecordedRequest[]): boolean {
  const answeredMs = requests.filter(({ remoteIp }) => remoteIp === null).flatMap(measureHandshake);
  return answeredMs.length > 0 && answeredMs.every((ms) => ms < MIN_INTERNET_RTT_MS);
}

/**
 * How long a connection's server took to answer over TCP; empty where nothing shows it: over HTTP/3 both handshakes begin together, and of
 * one that was under way before its request the browser reports no time before that.
 */
function measureHandshake({ protocol, phases }: RecordedRequest): number[] {
  const { connectStartMs, secureStartMs, connectEndMs } = phases;
  const endMs = secureStartMs ?? connectEndMs;
  return protocol === 'h3' || connectStartMs === null || endMs === null || endMs <= connectStartMs
    ? []
    : [endMs - connectStartMs];
}

/** Which network a stored load used. */
export const networkOf = ({ network, recording }: Pick<StoredLoad, 'network' | 'recording'>): UsedNetwork =>
  network ?? usedNetwork(recording);
