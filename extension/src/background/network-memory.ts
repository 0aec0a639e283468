/** Learns the network that the browser is on from page loads, and keeps what each site's loads showed for later ones. */
import { type MeasuredNetwork, type Recording, SerialQueue, type Verification } from '@hopwise/contract';
import {
  isShownOpen,
  learnForSite,
  learnNetwork,
  measuredBy,
  type NetworkCluster,
  parseCluster,
  showsUdp,
  siteKey,
} from '@hopwise/pageload-emulator';
import { networkOf } from '../load/used-network.ts';
import { getSummaries, type StoredLoad, updateLoad } from '../storage/loads.ts';
import {
  findSite,
  listWitnesses,
  loadNetwork,
  loadNetworkMemory,
  type NetworkMemory,
  NOTHING_KNOWN,
  removeExpiredNetworks,
  removeNetworks,
  removeSites,
  removeUnrecognisedNetwork,
  saveNetworkMemory,
} from '../storage/network.ts';
import { readNetworkKey } from '../storage/network-key.ts';
import { deservesLearning, hidesLink, type LearnedLoad } from './deserves-learning.ts';
import { doubtNetworkKey } from './recognise-network.ts';

/** Changes to the stored networks. */
const changes = new SerialQueue();

/**
 * Returns what earlier loads showed about a load's network, for its site; null when there are none, when the load's rates show that it
 * is on another network, and when it is not known to have used the internet.
 *
 * @param isFinal whether the load has ended: what it shows is then learned, unless it is nothing new
 */
export function recallNetwork(
  load: LearnedLoad & Pick<StoredLoad, 'network'>,
  isFinal: boolean,
): Promise<NetworkCluster | null> {
  return changes
    .run(async () => {
      if (networkOf(load) !== 'internet') return null;
      const site = siteKey(load.recording.url);
      const before = await loadNetwork(site);
      if (!isFinal) return before;
      if (await hidesLink(load)) {
        await learnOpening(site, load.recording);
        return before;
      }
      if (!(await deservesLearning(before, load))) return before;
      const memory = await loadNetworkMemory();
      const own = findSite(memory, site);
      const { cluster, isUnlikeOthers } = learnForSite(own, listWitnesses(memory, site), load.recording);
      // What was shown before of UDP, by whichever site, then holds no longer.
      const hasChanged = hasOpened(own, cluster, load.recording);
      const known = hasChanged
        ? { ...NOTHING_KNOWN, sites: { [site]: cluster } }
        : addSite(memory, site, cluster, isUnlikeOthers);
      await saveNetworkMemory(known);
      const isUnlikeOwn = own !== null && cluster.loads === 1;
      if (isUnlikeOwn || (isUnlikeOthers && memory.doubtedBy !== site)) await doubtNetworkKey();
      if (isUnlikeOwn) return null;
      return isUnlikeOthers ? own : before;
    })
    .catch(() => null);
}

/**
 * Learns that UDP is open from a load that shared the link with other tabs. It shows nothing else: rate, round trip and policer would be of
 * what the others left of the link.
 */
async function learnOpening(site: string, recording: Recording): Promise<void> {
  const memory = await loadNetworkMemory();
  const own = findSite(memory, site);
  if (own === null || isShownOpen(own) || !recording.requests.some(showsUdp)) return;
  const { udp } = learnForSite(own, listWitnesses(memory, site), recording).cluster;
  if (!isShownOpen({ udp })) return;
  const sites = { [site]: { ...own, udp } };
  const hasChanged = hasOpened(own, sites[site]!, recording);
  await saveNetworkMemory(
    hasChanged ? { ...NOTHING_KNOWN, sites } : { ...memory, sites: { ...memory.sites, ...sites } },
  );
}

/**
 * The memory with what the loads of a site showed. A site alone can be slow for reasons of its own: it takes two in a row that are not
 * like the rest to show that the network is another one.
 */
function addSite(
  memory: NetworkMemory,
  site: string,
  cluster: NetworkCluster,
  isUnlikeOthers: boolean,
): NetworkMemory {
  const { sites, check, checkedBy, unlike, doubtedBy } = memory;
  const doubting = doubtedBy === null || doubtedBy === site ? null : findSite(memory, doubtedBy);
  if (isUnlikeOthers && doubting !== null)
    return { ...NOTHING_KNOWN, sites: { [doubtedBy!]: doubting, [site]: cluster } };
  const others = unlike.filter((each) => each !== site);
  return {
    sites: { ...sites, [site]: cluster },
    check,
    checkedBy,
    unlike: isUnlikeOthers ? [...others, site] : others,
    doubtedBy: isUnlikeOthers ? site : null,
  };
}

/**
 * Whether a load of a site whose loads had shown that UDP is hindered shows that it is open, which says that the network has changed. Where
 * it shows nothing of UDP, what was known has only faded.
 */
const hasOpened = (
  before: NetworkCluster | null,
  { udp }: NetworkCluster,
  { requests }: Recording,
): boolean => before !== null && before.udp.open < 0.5 && udp.open > 0.5 && requests.some(showsUdp);

/**
 * Adds a verification's figures to the load's network, as what the page's site shows. Has no effect when the network was forgotten or
 * left in the meantime.
 */
export function learnFromVerification(load: VerifiedLoad, verification: Verification): Promise<void> {
  return learnFigures(load, (memory) => {
    const { recording, cluster } = load;
    const site = siteKey(recording.url);
    const stored = findSite(memory, site);
    if (stored === null) return memory;
    // The load itself counts once: if it was the last one learned, it is learned again from what was known before it.
    const isLast = stored.updatedAtMs === Date.parse(recording.recordedAt);
    const before = isLast ? parseCluster(cluster) : stored;
    const measured = learnNetwork(before, recording, Date.now(), measuredBy(verification));
    const loads = stored.loads + (isLast ? 0 : 1);
    return { ...memory, sites: { ...memory.sites, [site]: { ...measured, loads } } };
  });
}

/**
 * Adds what an active check showed to the load's network.
 *
 * @param isSecond whether it is to confirm or refute what another site had shown; it changes nothing where it does neither
 */
export function learnFromCheck(
  load: VerifiedLoad,
  verification: Verification,
  isSecond: boolean,
): Promise<void> {
  const measured = measuredBy(verification);
  return learnFigures(load, (memory) => {
    if (isSecond && !settles(measured.udp, memory.check)) return memory;
    return {
      ...memory,
      check: learnNetwork(null, load.recording, Date.now(), measured),
      checkedBy: isSecond ? null : siteKey(load.recording.url),
    };
  });
}

/** Whether a second check confirms or refutes what the first one found. That UDP gets through refutes no more than that it is blocked. */
function settles(udp: MeasuredNetwork['udp'], first: NetworkCluster | null): boolean {
  if (udp?.kind === 'unblocked') return first !== null && first.udp.blocked > first.udp.policed;
  return udp !== undefined;
}

type VerifiedLoad = Pick<StoredLoad, 'recording' | 'network' | 'networkKey' | 'cluster'>;

function learnFigures(
  { recording, network, networkKey = null }: VerifiedLoad,
  learn: (memory: NetworkMemory) => NetworkMemory,
): Promise<void> {
  return changes
    .run(async () => {
      if (networkKey !== (await readNetworkKey())) return;
      const memory = await loadNetworkMemory();
      if (Object.keys(memory.sites).length === 0 || networkOf({ recording, network }) !== 'internet') return;
      await saveNetworkMemory(learn(memory));
    })
    .catch(() => undefined);
}

/** Forgets the network if it is not recognised, because the browser is now on another one. */
export function leaveNetwork(): Promise<void> {
  return changes.run(async () => void (await removeUnrecognisedNetwork()));
}

/** Forgets networks that are too old to be used. */
export function removeOldNetworks(): Promise<void> {
  return changes.run(removeExpiredNetworks);
}

/** Forgets what loads of some sites showed of networks. */
export function forgetSites(isForgotten: (site: string) => boolean): Promise<void> {
  return changes.run(() => removeSites(isForgotten));
}

/** Forgets all networks. @returns whether one was stored */
export function eraseNetworks(): Promise<boolean> {
  return changes.run(removeNetworks);
}

/** Forgets all networks, also in stored loads, whose predictions are then made again. */
export function forgetNetworks(): Promise<void> {
  return changes.run(async () => {
    await removeNetworks();
    for (const { id, facts } of await getSummaries()) {
      if (facts.hasCluster)
        await updateLoad(id, { cluster: null, prediction: null, problem: '', verifiedPrediction: null });
    }
  });
}
