/**
 * The rules of `recheckUdp`. Where pins keep HTTP/3 off, no load over TCP shows whether UDP is still hindered: one origin of a page is spared for a
 * few loads. Where UDP still is hindered these take some hundredths longer, and not twice as long as without any of the pins.
 */
import { EVERY_ORIGIN, groupBy, type RecordedRequest, type Recording } from '@hopwise/contract';
import { isTelling, type NetworkCluster, showsUdp } from '@hopwise/pageload-emulator';
import { knowsUdp } from '../../evidence/known-udp.ts';
import { isHeld } from '../../evidence/pin-outcomes.ts';
import type { Visits } from '../../evidence/visit-kind.ts';
import type { StoredLoad } from '../../storage/loads.ts';
import type { AutopilotRun } from './autopilot-run.ts';
import { isOfRunsPage } from './measure-load.ts';

/** The loads with the pins after which an origin is spared; after as many that do not ask for it, another one is spared in its place. */
export const HELD_LOADS = 6;
/** The most loads that ask for an origin while it is spared: the first may be over TCP, as the browser has forgotten who offers HTTP/3, and one may not show enough. */
export const SPARED_LOADS = 4;

/** An origin that sends more of what is kept off HTTP/3 is not spared: the load would take nearly as long as without any pin. */
const MAX_SHARE = 0.5;

/** Whether a run keeps HTTP/3 off in the belief that it is slower, and not because a rule of the user's says so. */
export const isRevisable = ({ trigger, pins }: AutopilotRun): boolean =>
  (trigger === 'decision' || trigger === 'network') && pins.every(({ kind }) => kind === 'avoid-h3');

/** Whether a load was one with the pins of a run, but for the spared one. */
export function isWithPins(load: StoredLoad, run: AutopilotRun): boolean {
  const isOwn = run.trigger === 'network' || isOfRunsPage(load, run);
  return isOwn && run.pins.every(({ origin, kind }) => isHeld(load, origin, kind));
}

/**
 * Chooses the origin that tells enough of UDP at the least cost: of those with a response that is large enough, the one that sent least.
 *
 * @param visits those of the load's network, which show who was used over HTTP/3; others may not offer it
 * @returns null for none
 */
export function chooseSpared(
  { recording, pinned }: Pick<StoredLoad, 'recording' | 'pinned'>,
  { pins }: Pick<AutopilotRun, 'pins'>,
  visits: Pick<Visits, 'isOverH3'>,
): string | null {
  const isOfRun = (origin: string) => pins.some((pin) => pin.origin === origin);
  // What is pinned by itself as well would not be spared.
  const isPinned = (origin: string) =>
    isOfRun(origin) || (isOfRun(EVERY_ORIGIN) && pinned?.[origin] === undefined);
  const sent = listSent(recording).filter(({ url }) => url.startsWith('https:'));
  const held = [...groupBy(sent, ({ url }) => new URL(url).origin)].filter(([origin]) => isPinned(origin));
  const heldBytes = countBytes(held.flatMap(([, requests]) => requests));
  const telling = held
    .filter(([, requests]) => requests.some(isTelling))
    .map(([origin, requests]) => ({ origin, isOverH3: visits.isOverH3(origin), bytes: countBytes(requests) }))
    .filter(({ bytes }) => bytes <= MAX_SHARE * heldBytes);
  telling.sort((a, b) => Number(b.isOverH3) - Number(a.isOverH3) || a.bytes - b.bytes);
  return telling[0]?.origin ?? null;
}

const countBytes = (requests: readonly RecordedRequest[]): number =>
  requests.reduce((sum, { bodyBytes }) => sum + (bodyBytes ?? 0), 0);

const listSent = ({ requests }: Recording): RecordedRequest[] =>
  requests.filter(({ fromCache }) => !fromCache);

/** The requests of a load that a run's spared origin answered. */
export const listFromSpared = ({ recording }: StoredLoad, { spared }: AutopilotRun): RecordedRequest[] =>
  listSent(recording).filter(({ url }) => new URL(url).origin === spared?.origin);

/** What is known of how a network treats UDP for a page. */
interface Belief {
  /** What the loads of its site have shown; null for nothing. */
  own: NetworkCluster | null;
  /** The same with what other sites' loads have shown. */
  known: NetworkCluster | null;
}

/** Whether UDP is more probably hindered than open, so that it is worth looking whether it still is. */
export const isTakenForHindered = ({ own, known }: Belief): boolean =>
  [own, known].some((each) => each !== null && each.udp.open < 0.5);

/**
 * Whether requests to the spared origin have shown that UDP is more probably open. Others show nothing of it where a single server hinders its own.
 * Where that is wrong a slow load follows, after which HTTP/3 is kept off once more.
 */
export const findsUdpOpen = (requests: readonly RecordedRequest[], { known }: Belief): boolean =>
  requests.some(showsUdp) && known !== null && known.udp.open > 0.5;

/** Whether requests to the spared origin have shown that UDP is still hindered. */
export const findsUdpHindered = (requests: readonly RecordedRequest[], { own }: Belief): boolean =>
  requests.some(showsUdp) && own !== null && knowsUdp(own) && own.udp.open < 0.5;
