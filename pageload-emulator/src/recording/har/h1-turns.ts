import { groupBy, MAX_CONNECTIONS_PER_HOST } from '@hopwise/contract';
import { originOf } from '../../util/url.ts';
import type { RequestDraft } from '../requests/draft.ts';
import { MAX_BROWSER_CONNECTIONS } from './constant-version.ts';
import { ROUNDING_MS } from './values.ts';

/** A request of which it is known when its response came. */
type Answered = RequestDraft & { phases: { requestStartMs: number; responseStartMs: number } };

/**
 * Parts what requests over HTTP/1.1 waited for a connection from what they waited for their server, where a recorder counts both as one. A
 * connection carries one request at a time (RFC 9112, section 9.3.2; browsers do not pipeline), so that a request left when the response before
 * it on its connection had ended. Where no connections are named, and more requests are under way to a host than browsers have connections for, they took turns
 * on six.
 *
 * @param drafts their starts of requests are changed
 */
export function mendTurns(drafts: readonly RequestDraft[]): void {
  const overH1 = drafts.filter(isAnswered);
  const named = overH1.filter(({ connectionId }) => connectionId !== null);
  for (const own of groupBy(named, ({ connectionId }) => connectionId).values()) takeTurns(own);
  const unnamed = overH1.filter(({ connectionId }) => connectionId === null);
  for (const own of groupBy(unnamed, ({ url }) => originOf(url)).values()) takeTurnsOnSix(own);
}

function isAnswered(draft: RequestDraft): draft is Answered {
  const { protocol, fromCache, phases } = draft;
  return protocol === 'h1' && !fromCache && phases.requestStartMs !== null && phases.responseStartMs !== null;
}

/**
 * Mends requests of one connection, unless their responses overlap: then it is none. Where none of them left before the response ahead began, the
 * recorder counts waits for the connection by themselves, and nothing is mended: that some left before its recorded end is because Chromium notes ends
 * late when the page's main thread is busy.
 */
function takeTurns(requests: readonly Answered[]): void {
  const ordered = requests.toSorted((a, b) => a.phases.responseStartMs - b.phases.responseStartMs);
  const overlaps = ordered.some(
    ({ phases }, at) => at > 0 && phases.responseStartMs < ordered[at - 1]!.endMs - ROUNDING_MS,
  );
  if (overlaps) return;
  const turns = ordered.slice(1).map((request, at) => ({ request, before: ordered[at]! }));
  const areWaits = turns.some(
    ({ request, before }) => request.phases.requestStartMs < before.phases.responseStartMs - ROUNDING_MS,
  );
  if (areWaits) for (const { request, before } of turns) leaveAfter(request, before.endMs);
}

/** Mends requests to one host, in the order in which they were to leave. */
function takeTurnsOnSix(requests: readonly Answered[]): void {
  const ordered = requests.toSorted((a, b) => a.phases.requestStartMs - b.phases.requestStartMs);
  if (mostAtOnce(ordered) <= MAX_BROWSER_CONNECTIONS) return;
  /** When each connection is free. */
  const freeMs: number[] = [];
  for (const request of ordered) {
    if (freeMs.length < MAX_CONNECTIONS_PER_HOST) freeMs.push(request.endMs);
    else {
      const first = freeMs.indexOf(Math.min(...freeMs));
      leaveAfter(request, freeMs[first]!);
      freeMs[first] = Math.max(freeMs[first]!, request.endMs);
    }
  }
}

function leaveAfter({ phases }: Answered, freeMs: number): void {
  phases.requestStartMs = Math.min(phases.responseStartMs, Math.max(phases.requestStartMs, freeMs));
}

/** @param ordered by `requestStartMs` */
function mostAtOnce(ordered: readonly Answered[]): number {
  const ends = ordered.map(({ endMs }) => endMs).sort((a, b) => a - b);
  let ended = 0;
  let most = 0;
  for (const [at, { phases }] of ordered.entries()) {
    while (ends[ended]! <= phases.requestStartMs) ended++;
    most = Math.max(most, at + 1 - ended);
  }
  return most;
}
