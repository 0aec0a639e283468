import { type Action, groupBy, type PinKind, type RecordedRequest } from '@hopwise/contract';
import type { StoredLoad } from '../storage/loads.ts';
import { isLocalOrigin, isPinnable } from './pinnable-origin.ts';

/** An origin with the kind of its pin. */
export interface PlannedPin {
  origin: string;
  kind: PinKind;
  /** Whether the user allows it although it has no public address. */
  allowLocal?: boolean | undefined;
}

/** The pins that carry out an action of the browser, without origins that cannot be pinned. */
export function planPins(action: Action): PlannedPin[] {
  return action.origins.flatMap((origin) => {
    const kind = pinKindOf(action, origin);
    return kind === null ? [] : { origin, kind };
  });
}

/**
 * Pins that keep also those origins of a recording off HTTP/3 of which it does not show whether they offer it: where HTTP/3 is
 * avoided because the network hinders UDP, the next load would be slowed down by the first of them that does. Origins that sent next
 * to nothing are left alone: pins act on their other pages too.
 *
 * @param planned the pins of an action
 */
export function planUnknownOffers(
  planned: readonly PlannedPin[],
  { recording }: Pick<StoredLoad, 'recording'>,
): PlannedPin[] {
  if (planned.length === 0 || planned.some(({ kind }) => kind !== 'avoid-h3')) return [];
  const sent = recording.requests.filter(({ fromCache }) => !fromCache);
  const byOrigin = groupBy(sent, ({ url }) => new URL(url).origin);
  return [...byOrigin]
    .filter(([, requests]) => requests.every(({ offersH3 }) => offersH3 === null))
    .filter(([origin]) => origin.startsWith('https:') && isPinnable(origin) && !isLocalOrigin(origin))
    .filter(([origin, requests]) => !planned.some((pin) => pin.origin === origin) && mayMatter(requests))
    .map(([origin]) => ({ origin, kind: 'avoid-h3' }));
}

/** Images that are known to be smaller, or are this few of unknown size, are not worth a pin: most are pixels that count visits. */
const MIN_IMAGE_BYTES = 10_000;
const MIN_IMAGES = 3;

/** Whether the requests to an origin may matter to the page. */
function mayMatter(requests: readonly RecordedRequest[]): boolean {
  const isImage = ({ type }: RecordedRequest) => type === 'image' || type === 'beacon';
  if (!requests.every(isImage)) return true;
  const knownBytes = requests.reduce((sum, { bodyBytes }) => sum + (bodyBytes ?? 0), 0);
  const unknown = requests.filter(({ bodyBytes }) => bodyBytes === null);
  return knownBytes >= MIN_IMAGE_BYTES || unknown.length >= MIN_IMAGES;
}

/** The pin that carries out an action at one of its origins; null when that cannot be pinned. */
export function pinKindOf({ kind, assignment }: Action, origin: string): PinKind | null {
  if (!isPinnable(origin) || isLocalOrigin(origin)) return null;
  if (kind === 'avoid-h3') return kind;
  return kind === 'force-protocol' && isName(new URL(origin).hostname) ? assignment[origin]! : null;
}

/** The local CA's name constraints cover DNS names only, not IP addresses. */
function isName(host: string): boolean {
  return !host.startsWith('[') && !/^[\d.]+$/.test(host);
}
