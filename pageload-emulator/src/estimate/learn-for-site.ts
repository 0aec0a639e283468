import type { RecordedRequest, Recording } from '@hopwise/contract';
import { addLoad, posteriorsOf, timeOf } from './learn-network.ts';
import type { NetworkCluster } from './network-cluster.ts';
import {
  mayBeSameNetwork,
  type NetworkWitnesses,
  poolClusters,
  ratesForSite,
  witnessesOfLink,
} from './pool-clusters.ts';

/** A response over HTTP/3 with fewer bytes does not show how the network treats UDP. */
const TELLING_BYTES = 30_000;

/** Whether a response shows how the network treats UDP, if it came over HTTP/3. */
export const isTelling = ({ bodyBytes }: RecordedRequest): boolean => (bodyBytes ?? 0) >= TELLING_BYTES;

/** Whether a response shows how the network treats UDP. */
export const showsUdp = (request: RecordedRequest): boolean =>
  request.protocol === 'h3' && isTelling(request);

/** Whether a request may show anything of UDP: it used HTTP/3, or was offered it. */
const mayShowUdp = ({ protocol, offersH3 }: RecordedRequest): boolean =>
  protocol === 'h3' || offersH3 === true;

/**
 * Updates what the loads of a site showed of a network with another load of it. Of what others showed only the rates enter, and only
 * where UDP may be policed: that a page is slow over HTTP/3 shows it together with how fast the link is. A load without HTTP/3 is there
 * for that alone: it is learned roughly, as it was recorded on a machine that a person uses.
 *
 * @param own what the site's earlier loads showed; null for the first
 * @param others what else is known of the network
 */
export function learnForSite(
  own: NetworkCluster | null,
  others: NetworkWitnesses,
  recording: Recording,
): { cluster: NetworkCluster; isUnlikeOthers: boolean } {
  const showingLink = witnessesOfLink(others);
  const known = poolClusters(showingLink);
  const after = posteriorsOf(recording, { onlyRates: !recording.requests.some(mayShowUdp) });
  const learn = (before: NetworkCluster | null) => addLoad(before, after, timeOf(recording));
  if (known !== null && recording.requests.some(showsUdp)) {
    const prior = ratesForSite(own, showingLink);
    const cluster = learn(prior);
    if (cluster.loads > 1)
      return { cluster: { ...cluster, loads: (own?.loads ?? 0) + 1 }, isUnlikeOthers: false };
    // It has begun anew, as from nothing.
    return { cluster: own === null ? cluster : learn(own), isUnlikeOthers: true };
  }
  const cluster = learn(own);
  return { cluster, isUnlikeOthers: known !== null && !mayBeSameNetwork(cluster, known) };
}
