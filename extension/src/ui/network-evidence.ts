import type { NetworkCluster } from '@hopwise/pageload-emulator';
import { count } from './format.ts';

const MINUTE_MS = 60_000;

/**
 * What a prediction's figures of the network rest on, in a sentence.
 *
 * @param cluster what earlier loads told; null for none
 * @param recordedAt when the load was, ISO 8601
 */
export function restsOn(cluster: NetworkCluster | null, recordedAt: string): string {
  if (cluster === null) return 'The network is known from this load alone.';
  const before = formatAge(Date.parse(recordedAt) - cluster.updatedAtMs);
  const earlier = cluster.loads === 1 ? 'an earlier one' : `${cluster.loads} earlier ones`;
  return `The network is known from this load and ${earlier}, ${cluster.loads === 1 ? '' : 'the last '}${before} before it.`;
}

/** `3 minutes`; a time that is none, or unknown, is less than one. */
function formatAge(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS);
  if (!(minutes >= 1)) return 'less than a minute';
  if (minutes < 60) return count(minutes, 'minute');
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? count(hours, 'hour') : count(Math.floor(hours / 24), 'day');
}
