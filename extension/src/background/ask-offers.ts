/**
 * Which servers offer HTTP/3 shows in their headers alone, which light recordings do not have. A check of the network needs one that does: the
 * helper asks a server of the page that was just visited.
 */
import { DAY_MS, type RecordedRequest, type Verification } from '@hopwise/contract';
import { originOf, planChecks, planNetworkCheck, type Recording, siteKey } from '@hopwise/pageload-emulator';
import * as z from 'zod/mini';
import { isUnconfirmed, knowsUdp } from '../evidence/known-udp.ts';
import { verifyWithHelper } from '../helper/verify-with-helper.ts';
import { describeError } from '../language/describe-error.ts';
import { getLoad, updateLoad } from '../storage/loads.ts';
import { loadNetwork, loadNetworkMemory } from '../storage/network.ts';
import { nameNetwork, UNRECOGNISED } from '../storage/network-key.ts';
import { readSettings } from '../storage/settings.ts';
import { StoredItem } from '../storage/stored-item.ts';
import { transferBriefly } from './brief-transfer.ts';
import { mayCheck } from './may-check.ts';

/** Servers that are asked in a day. */
const MAX_ASKED = 20;
/** Servers that are asked in a day on one network: where none of these offers HTTP/3, pages that do are too rare to ask for. */
const MAX_ASKED_ON_NETWORK = 4;
const MAX_BYTES = 300_000;

const askedSchema = z.object({
  /** By network and origin: when it was asked, milliseconds since 1970, and its answer, null for none. */
  asked: z.record(z.string(), z.object({ atMs: z.number(), offersH3: z.nullable(z.boolean()) })),
});
type Asked = z.infer<typeof askedSchema>['asked'];

/** In memory only: it names servers of pages. */
const asked = new StoredItem<Asked>('session', 'asked-offers', (value) => {
  const parsed = askedSchema.safeParse({ asked: value });
  return parsed.success ? parsed.data.asked : {};
});

/**
 * Whether it matters which pages offer HTTP/3: where the user has networks checked, for which such a server is needed, and it is not known how
 * this one treats UDP, or by a server of another site alone. Not for the autopilot: where nothing shows that UDP is hindered, nothing is
 * worthwhile, see `hasChoice`.
 *
 * @param site of the page
 */
export async function wantsOffers(site: string): Promise<boolean> {
  const { checksNetworks } = await readSettings();
  if (!checksNetworks) return false;
  const known = await loadNetwork();
  return known === null || !knowsUdp(known) || isUnconfirmed(await loadNetworkMemory(), site);
}

/**
 * Has the helper ask a server of a load's page whether it offers HTTP/3, by a request without cookies and one small transfer over
 * HTTP/2, where that matters and the load does not show it: each server once a day on a network, one of a site, and never one that is not on the
 * internet. The load then states the answer. Never throws: without a helper, as little is known as before.
 */
export async function askForOffers(
  loadId: number,
  verify: typeof verifyWithHelper = verifyWithHelper,
  nowMs = Date.now(),
): Promise<void> {
  const load = await getLoad(loadId);
  if (load === undefined) return;
  const { recording } = load;
  const site = siteKey(recording.url);
  if (!(await wantsOffers(site)) || !mayCheck(load)) return;
  const origin = chooseServer(recording, isUnconfirmed(await loadNetworkMemory(), site));
  if (origin === null) return;
  try {
    const offersH3 = await findAnswer(nameNetwork(load), origin, nowMs, () => ask(recording, origin, verify));
    if (offersH3 !== null) await stateOffer(loadId, origin, offersH3);
  } catch (error) {
    console.warn('hopwise: offers of HTTP/3 are not known:', await describeError(error));
  }
}

/** States the answer in the load, which may have been erased, or its query strings removed, since the server was asked. */
async function stateOffer(loadId: number, origin: string, offersH3: boolean): Promise<void> {
  const load = await getLoad(loadId);
  if (load === undefined) return;
  const { recording } = load;
  const first = recording.requests.find(({ url }) => originOf(url) === origin);
  const requests = recording.requests.map((each) => (each === first ? { ...each, offersH3 } : each));
  await updateLoad(loadId, { recording: { ...recording, requests }, prediction: null });
}

/**
 * The server of a page's site that is asked: of those whose responses are enough for a check, the page's own, else the one that needs the
 * fewest. On many sites the page comes from one server, and nearly all else from another.
 *
 * @param isSecond whether the check that needs an answer asks a server of the page's site alone
 * @returns null where no check needs an answer, or none would help
 */
function chooseServer(recording: Recording, isSecond: boolean): string | null {
  const site = siteKey(recording.url);
  const askable = recording.requests.filter(({ url }) => !isSecond || siteKey(url) === site);
  if (planNetworkCheck({ ...recording, requests: askable }, '') !== null) return null;
  const isUnknown = (origin: string) =>
    recording.requests.every(({ url, offersH3 }) => originOf(url) !== origin || offersH3 === null);
  const able = [...planChecks(recording, '')]
    .map(([origin, { transfers }]) => ({ origin, transfers: transfers.length }))
    .filter(({ origin }) => siteKey(origin) === site && isUnknown(origin));
  const own = originOf(recording.url);
  const isOwn = ({ origin }: { origin: string }) => origin === own;
  return (able.find(isOwn) ?? able.toSorted((a, b) => a.transfers - b.transfers)[0])?.origin ?? null;
}

/** Forgets what was asked on a network that is not recognised: the browser is on another one now. */
export async function forgetUnrecognisedOffers(): Promise<void> {
  const kept = Object.entries(await asked.read()).filter(([name]) => !name.startsWith(`${UNRECOGNISED} `));
  await asked.write(Object.fromEntries(kept));
}

/** Forgets which servers were asked. */
export const forgetOffers = (): Promise<void> => asked.remove();

/** The answer of a server that was asked before, else of one that may be asked now. */
async function findAnswer(
  network: string,
  origin: string,
  nowMs: number,
  askNow: () => Promise<boolean | null>,
): Promise<boolean | null> {
  const recent = Object.fromEntries(
    Object.entries(await asked.read()).filter(([, { atMs }]) => nowMs - atMs < DAY_MS),
  );
  const name = `${network} ${origin}`;
  const known = recent[name];
  if (known !== undefined) return known.offersH3;
  const names = Object.keys(recent);
  const here = names.filter((each) => each.startsWith(`${network} `));
  if (names.length >= MAX_ASKED || here.length >= MAX_ASKED_ON_NETWORK) return null;
  // So that no site has all that may be asked spent on servers of its own.
  if (here.some((each) => siteKey(each.slice(network.length + 1)) === siteKey(origin))) return null;
  // Before the answer: a server that does not answer is not asked again either.
  await asked.write({ ...recent, [name]: { atMs: nowMs, offersH3: null } });
  const offersH3 = await askNow();
  const since = await asked.read();
  // Otherwise it was forgotten meanwhile.
  if (name in since) await asked.write({ ...since, [name]: { atMs: nowMs, offersH3 } });
  return offersH3;
}

async function ask(
  recording: Recording,
  origin: string,
  verify: typeof verifyWithHelper,
): Promise<boolean | null> {
  const { url, bytes } = findSmallResponse(recording.requests, origin);
  const transfer = { url, bytes, after: [], delayMs: 0, urgency: 3, incremental: false, accept: '*/*' };
  const plan = { pageUrl: url, userAgent: navigator.userAgent.slice(0, 512), transfers: [transfer] };
  return readOffer(await transferBriefly(plan, ['h2'], MAX_BYTES, verify), origin);
}

function readOffer({ origins }: Verification, origin: string): boolean | null {
  const found = origins.find((each) => each.origin === origin && each.unreachable === '');
  return found ? found.h3Offered.altSvc.some(({ maxAgeS }) => maxAgeS > 0) : null;
}

/** Types whose requests change nothing at the server. */
const TYPES: readonly RecordedRequest['type'][] = ['script', 'style', 'image', 'font'];

/** The smallest response that the page had from its server, of a URL without a query string; its icon where there is none. */
function findSmallResponse(
  requests: readonly RecordedRequest[],
  origin: string,
): { url: string; bytes: number } {
  const able = requests
    .filter(({ url, method, status, type }) => {
      const isPlain = new URL(url).origin === origin && !url.includes('?');
      return isPlain && method === 'GET' && status === 200 && TYPES.includes(type);
    })
    .map(({ url, bodyBytes }) => ({ url, bytes: bodyBytes ?? 0 }))
    .filter(({ bytes }) => bytes > 0);
  return able.toSorted((a, b) => a.bytes - b.bytes)[0] ?? { url: `${origin}/favicon.ico`, bytes: 0 };
}
