/** What page loads tell of the network that the browser is on, kept for the loads after them. */
import { isLocalAddress, type Verification } from '@hopwise/contract';
import {
  learnNetwork,
  measuredBy,
  type NetworkCluster,
  parseCluster,
  type Recording,
} from '@hopwise/pageload-emulator';
import { allLoads, type StoredLoad, updateLoad } from '../storage/loads.ts';
import { dropNetwork, keepNetwork, keptNetwork } from '../storage/network.ts';
import { assess } from './predict-load.ts';

/** The last change of what is kept: the next one waits for it. */
let turn: Promise<unknown> = Promise.resolve();

function inTurn<T>(change: () => Promise<T>): Promise<T> {
  const done = turn.then(change, change);
  turn = done;
  return done;
}

/**
 * What is known of a load's network from earlier ones; null where nothing is, where the load shows that it is of
 * another network, and where it went over none.
 *
 * @param learn whether this load is to teach the later ones
 */
export function networkBefore(recording: Recording, learn: boolean): Promise<NetworkCluster | null> {
  return inTurn(async () => {
    if (!wentOut(recording)) return null;
    const before = await keptNetwork();
    if (!learn) return before;
    const after = learnNetwork(before, recording);
    await keepNetwork(after);
    return after.loads > 1 ? before : null;
  }).catch(() => null);
}

/** Keeps what a verification showed of the network as well, for later loads. Nothing where the network was left or forgotten. */
export function networkVerified(
  { recording, cluster }: Pick<StoredLoad, 'recording' | 'cluster'>,
  verification: Verification,
): Promise<void> {
  return inTurn(async () => {
    const kept = await keptNetwork();
    if (kept === null || !wentOut(recording)) return;
    // The load itself counts once: where it was the last to teach, it is learned anew from what was known before it.
    const isLast = kept.updatedAtMs === Date.parse(recording.recordedAt);
    const before = isLast ? parseCluster(cluster) : kept;
    await keepNetwork(learnNetwork(before, recording, Date.now(), measuredBy(verification)));
  }).catch(() => undefined);
}

/** Forgets the network: the browser is on another one now. */
export function leaveNetwork(): Promise<void> {
  return inTurn(dropNetwork);
}

/** Forgets the network, and what loads that are kept knew of it. Their predictions are made anew. */
export function forgetNetworks(): Promise<void> {
  return inTurn(async () => {
    await dropNetwork();
    for (const { id, recording, cluster, verification } of await allLoads()) {
      if (!cluster) continue;
      const verifiedPrediction =
        verification && assess({ recording, cluster: null }, verification).prediction;
      await updateLoad(id, { cluster: null, prediction: null, problem: '', verifiedPrediction });
    }
  });
}

/** Whether something came over the network, and from beyond the machine and its neighbours. */
function wentOut({ requests }: Recording): boolean {
  const sent = requests.filter(({ fromCache, protocol, status }) => !fromCache && protocol && status !== 0);
  return sent.length > 0 && !sent.some(({ remoteIp }) => remoteIp !== null && isLocalAddress(remoteIp));
}
