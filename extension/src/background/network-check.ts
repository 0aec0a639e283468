/** The active check of a network: one small transfer over HTTP/3 and one over TCP, from a server that was just visited. */
import { SerialQueue } from '@hopwise/contract';
import {
  MAX_CHECK_BYTES,
  measuredBy,
  parseCluster,
  planNetworkCheck,
  siteKey,
} from '@hopwise/pageload-emulator';
import * as z from 'zod/mini';
import { isUnconfirmed, knowsUdp, listSuspectingSites } from '../evidence/known-udp.ts';
import { verifyWithHelper } from '../helper/verify-with-helper.ts';
import { describeError } from '../language/describe-error.ts';
import { getLoad, type StoredLoad, updateLoad } from '../storage/loads.ts';
import { loadNetworkMemory, MAX_NETWORKS } from '../storage/network.ts';
import { nameNetwork, UNRECOGNISED } from '../storage/network-key.ts';
import { ownStorage } from '../storage/own-storage.ts';
import { readSettings } from '../storage/settings.ts';
import { restoreQueries } from '../storage/strip-load.ts';
import { askForOffers } from './ask-offers.ts';
import { transferBriefly } from './brief-transfer.ts';
import { readQueries } from './known-queries.ts';
import { mayCheck } from './may-check.ts';
import { learnFromCheck } from './network-memory.ts';

const KEY = 'network-checks';
/** A network is checked again after this time. */
const CHECK_AGAIN_MS = 24 * 3_600_000;
/** The same where another site alone has shown that UDP may be hindered, which is asked apart from the above. */
const CHECK_DOUBT_AGAIN_MS = 3_600_000;
/** Ends the key of a check in doubt. No key of a network has a blank. */
const IN_DOUBT = ' in doubt';

const checkedSchema = z.catch(z.record(z.string(), z.number()), {});

/** Loads whose network is learned about, one at a time. */
const examined = new SerialQueue();

/**
 * Asks for offers of HTTP/3, see `askForOffers`, and checks the network of a load. Of pages that load one soon after
 * another, each waits for what the one before has shown: together they would ask more servers than one after another, and disturb each other's transfers.
 */
export function examineNetwork(
  loadId: number,
  verify: typeof verifyWithHelper = verifyWithHelper,
): Promise<void> {
  return examined.run(async () => {
    await askForOffers(loadId, verify);
    await checkNetwork(loadId, verify);
  });
}

/**
 * Checks the network of a load where the user allows it, unless it is known how the network treats UDP, or the network was checked
 * within a day. Where one site alone has shown that UDP is hindered, by its loads or by a check, the next page's own server is asked, as the first
 * one's may hinder its own HTTP/3. Never throws: without a helper, and where a transfer fails, the network stays as little known as it was.
 */
export async function checkNetwork(
  loadId: number,
  verify: typeof verifyWithHelper = verifyWithHelper,
  nowMs = Date.now(),
): Promise<void> {
  const { checksNetworks } = await readSettings();
  const load = checksNetworks ? await getLoad(loadId) : undefined;
  if (load === undefined || !mayCheck(load)) return;
  const isDoubtful = await isDoubted(load);
  if (!isDoubtful && isKnown(load)) return;
  const name = nameNetwork(load) + (isDoubtful ? IN_DOUBT : '');
  const checked = await readChecks();
  const againMs = isDoubtful ? CHECK_DOUBT_AGAIN_MS : CHECK_AGAIN_MS;
  // The clock may have been set back since.
  if (Math.abs(nowMs - (checked[name] ?? Number.NEGATIVE_INFINITY)) < againMs) return;
  try {
    const { url, requests } = restoreQueries(load.recording, await readQueries(load, 'verify'));
    const able = requests.filter((request) => !isDoubtful || siteKey(request.url) === siteKey(url));
    const plan = planNetworkCheck({ url, requests: able }, navigator.userAgent);
    if (plan === null) return;
    const newest = Object.entries({ ...checked, [name]: nowMs })
      .sort(([, a], [, b]) => b - a)
      .slice(0, 2 * MAX_NETWORKS);
    await ownStorage.set({ [KEY]: Object.fromEntries(newest) });
    const verification = await transferBriefly(plan, ['h2', 'h3'], 2 * MAX_CHECK_BYTES, verify);
    await learnFromCheck(load, verification, isDoubtful);
    await updateLoad(load.id, { check: measuredBy(verification), prediction: null });
  } catch (error) {
    // Most often the helper is not installed, the day's data are spent, or the server does not answer.
    console.warn('hopwise: the network was not checked:', await describeError(error));
  }
}

/** Forgets the check of a network that is not recognised: the browser is on another one now. */
export async function forgetUnrecognisedCheck(): Promise<void> {
  const { [UNRECOGNISED]: _, [UNRECOGNISED + IN_DOUBT]: _inDoubt, ...others } = await readChecks();
  await ownStorage.set({ [KEY]: others });
}

const readChecks = async (): Promise<Record<string, number>> =>
  checkedSchema.parse((await ownStorage.get(KEY))[KEY] ?? {});

/** Forgets which networks were checked. */
export function forgetChecks(): Promise<void> {
  return ownStorage.remove(KEY);
}

/** Whether other sites' loads or servers have shown that UDP is hindered, but not as surely as this one's own server can. */
async function isDoubted({ recording }: StoredLoad): Promise<boolean> {
  const memory = await loadNetworkMemory();
  const site = siteKey(recording.url);
  const suspecting = listSuspectingSites(memory);
  return isUnconfirmed(memory, site) || (suspecting.length > 0 && !suspecting.includes(site));
}

function isKnown({ cluster }: StoredLoad): boolean {
  const known = parseCluster(cluster);
  return known !== null && knowsUdp(known);
}
