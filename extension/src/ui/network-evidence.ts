import type { NetworkCluster } from '@hopwise/pageload-emulator';
import { formatCount } from './format.ts';

const MINUTE_MS = 60_000;

/**
 * One sentence: which loads a prediction's network figures are estimated from.
 *
 * @param cluster summary of earlier loads; null for none
 * @param recordedAt time of the load, ISO 8601
 */
export function describeNetworkEvidence(cluster: NetworkCluster | null, recordedAt: string): string {
  if (cluster === null) return 'Network estimated from this load only.';
  const before = formatAge(Date.parse(recordedAt) - cluster.updatedAtMs);
  const earlier = cluster.loads === 1 ? 'an earlier load' : `${cluster.loads} earlier loads`;
  return `Network estimated from this load and ${earlier}, ${cluster.loads === 1 ? '' : 'the last '}${before} before it.`;
}

/** `3 minutes`; zero, negative and unknown times count as less than one. */
function formatAge(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS);
  if (!(minutes >= 1)) return 'less than a minute';
  if (minutes < 60) return formatCount(minutes, 'minute');
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? formatCount(hours, 'hour') : formatCount(Math.floor(hours / 24), 'day');
}
