import { MINUTE_MS } from '@hopwise/contract';
import type { NetworkCluster } from '@hopwise/pageload-emulator';
import { plural, t } from '../language/translate.ts';

/**
 * One sentence: which loads a prediction's network figures are estimated from.
 *
 * @param cluster summary of earlier loads; null for none
 * @param recordedAt time of the load, ISO 8601
 */
export function describeNetworkEvidence(cluster: NetworkCluster | null, recordedAt: string): string {
  if (cluster === null) return t('evidenceThisLoad');
  const age = formatAge(Date.parse(recordedAt) - cluster.updatedAtMs);
  return plural('evidenceEarlier', cluster.loads, { age });
}

/** `3 minutes`; zero, negative and unknown times count as less than one. */
function formatAge(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS);
  if (!(minutes >= 1)) return t('ageShort');
  if (minutes < 60) return plural('minutes', minutes);
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? plural('hours', hours) : plural('days', Math.floor(hours / 24));
}
