/** The active check of a network: one small transfer over HTTP/3 and one over TCP, from a server that was just visited. */

import { groupBy, messageOf, type RecordedRequest, type TransferPlan } from '@hopwise/contract';
import { measuredBy, parseCluster } from '@hopwise/pageload-emulator';
import * as z from 'zod/mini';
import { isSuitable } from '../autopilot/suitable-load.ts';
import { verifyWithHelper } from '../helper/verify-with-helper.ts';
import { getLoad, type StoredLoad, updateLoad } from '../storage/loads.ts';
import { MAX_NETWORKS } from '../storage/network.ts';
import { readSettings } from '../storage/settings.ts';
import { restoreQueries } from '../storage/strip-load.ts';
import { addBytes, findBudget } from '../storage/verification-data.ts';
import { readQueries } from './known-queries.ts';
import { learnFromVerification } from './network-memory.ts';

const KEY = 'network-checks';
/** A network is checked again after this time. */
const CHECK_AGAIN_MS = 24 * 3_600_000;
/** Surer than this, earlier loads show how the network treats UDP. */
const SURE = 0.95;

/** Bytes of the responses that are transferred, over each of the two. The verdict needs 200 kB (native-host, `udp-verdict.ts`). */
const MIN_BYTES = 230_000;
const MAX_BYTES = 330_000;
/** Where the server's responses are small, they are transferred several times. */
const MAX_TRANSFERS = 24;
/** On a link that is known to take longer for the least transfer, a policer matters little, and the check would slow pages down. */
const MAX_TRANSFER_MS = 1_200;
const LIMIT_MS = 10_000;

/** Types whose requests change nothing at the server. */
const TYPES: readonly RecordedRequest['type'][] = ['script', 'style', 'image', 'font'];

const checkedSchema = z.catch(z.record(z.string(), z.number()), {});

/** The parts of `navigator.connection` in use (Network Information API); Chromium only. */
interface Connection {
  saveData?: boolean;
  type?: string;
}

/** Whether a transfer may cost the person money, as far as the browser says. */
export function isMetered(connection = (navigator as { connection?: Connection }).connection): boolean {
  return connection?.saveData === true || connection?.type === 'cellular';
}

/**
 * Plans the transfers of responses that a load has had from one server that offers HTTP/3.
 *
 * @param recording with its query strings
 * @returns null where no server offers it, or too little came from each
 */
export function planCheck(
  { recording }: Pick<StoredLoad, 'recording'>,
  userAgent: string,
): TransferPlan | null {
  const byOrigin = groupBy(recording.requests, ({ url }) => new URL(url).origin);
  for (const [origin, requests] of byOrigin) {
    const offers = requests.some(({ protocol, offersH3 }) => protocol === 'h3' || offersH3 === true);
    if (!origin.startsWith('https:') || !offers) continue;
    const chosen = chooseResponses(requests);
    if (chosen === null) continue;
    return {
      pageUrl: recording.url,
      userAgent: userAgent.slice(0, 512),
      transfers: chosen.map(({ url, bodyBytes }) => ({
        url,
        after: [],
        delayMs: 0,
        urgency: 3,
        incremental: false,
        accept: '*/*',
        bytes: bodyBytes!,
      })),
    };
  }
  return null;
}

/** The largest responses that fit, several times if need be; null for too few bytes. */
function chooseResponses(requests: readonly RecordedRequest[]): RecordedRequest[] | null {
  const able = requests
    .filter(
      ({ method, status, type, bodyBytes, fromCache }) =>
        method === 'GET' && status === 200 && TYPES.includes(type) && !fromCache && (bodyBytes ?? 0) > 0,
    )
    .toSorted((a, b) => b.bodyBytes! - a.bodyBytes!);
  const chosen: RecordedRequest[] = [];
  let sum = 0;
  for (let turn = 0; turn < MAX_TRANSFERS && able.length > 0 && sum < MIN_BYTES; turn++) {
    const request = able[turn % able.length]!;
    if (sum + request.bodyBytes! > MAX_BYTES) continue;
    chosen.push(request);
    sum += request.bodyBytes!;
  }
  return sum < MIN_BYTES ? null : chosen;
}

/**
 * Checks the network of a load where the user allows it, unless it is known how the network treats UDP, or the network was checked
 * within a day. Never throws: without a helper, and where a transfer fails, the network stays as little known as it was.
 */
export async function checkNetwork(
  loadId: number,
  verify: typeof verifyWithHelper = verifyWithHelper,
  nowMs = Date.now(),
): Promise<void> {
  const { checksNetworks } = await readSettings();
  const load = checksNetworks ? await getLoad(loadId) : undefined;
  if (load === undefined || isMetered() || !isSuitable(load, []) || isKnown(load) || isSlow(load)) return;
  const name = load.networkKey ?? '';
  const checked = checkedSchema.parse((await chrome.storage.local.get(KEY))[KEY] ?? {});
  if (nowMs - (checked[name] ?? Number.NEGATIVE_INFINITY) < CHECK_AGAIN_MS) return;
  try {
    const recording = restoreQueries(load.recording, await readQueries(load, 'verify'));
    const plan = planCheck({ recording }, navigator.userAgent);
    if (plan === null) return;
    const newest = Object.entries({ ...checked, [name]: nowMs })
      .sort(([, a], [, b]) => b - a)
      .slice(0, MAX_NETWORKS);
    await chrome.storage.local.set({ [KEY]: Object.fromEntries(newest) });
    const budgetBytes = Math.min((await findBudget()) ?? Number.POSITIVE_INFINITY, 2 * MAX_BYTES);
    const probe = {
      plan,
      protocols: ['h2', 'h3'] as ('h2' | 'h3')[],
      assignments: [],
      rounds: 1,
      budgetBytes,
    };
    const verification = await verify(probe, () => undefined, AbortSignal.timeout(LIMIT_MS));
    await addBytes(verification.bytes);
    await learnFromVerification(load, verification);
    await updateLoad(load.id, { check: measuredBy(verification), prediction: null });
  } catch (error) {
    // Most often the helper is not installed, the day's data are spent, or the server does not answer.
    console.warn('hopwise: the network was not checked:', messageOf(error));
  }
}

/** Forgets which networks were checked. */
export function forgetChecks(): Promise<void> {
  return chrome.storage.local.remove(KEY);
}

function isKnown({ cluster }: StoredLoad): boolean {
  const udp = parseCluster(cluster)?.udp;
  return udp !== undefined && Math.max(udp.open, udp.policed, udp.blocked) >= SURE;
}

function isSlow({ cluster }: StoredLoad): boolean {
  const downBps = parseCluster(cluster)?.downBps;
  // The median: the figure is log-normal.
  return downBps !== undefined && (8_000 * MIN_BYTES) / Math.exp(downBps.mean) > MAX_TRANSFER_MS;
}
