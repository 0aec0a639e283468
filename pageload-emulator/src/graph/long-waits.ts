import { groupBy, MAX_CONNECTIONS_PER_HOST, type RecordedRequest } from '@hopwise/contract';
import { LOW_PRIORITY_LIMIT } from '../client/low-priority-gate.ts';
import { firstIndexWhere } from '../util/ordered.ts';
import { originOf } from '../util/url.ts';
import { connectionsOpenedAt, firstStepMs } from './dispatch-delay.ts';
import { priorityOf } from './priorities.ts';

/** A shorter wait was for the processor, or for the second connection that Chromium opens where the first is slow (`backupAfterMs`). */
const MIN_WAIT_MS = 300;
/** The most urgent of the low priorities, to which browsers' limits apply. */
const LOW_URGENCY = 3;

/**
 * Finds the requests that the browser kept for long although none of its limits held them back, before their first step (name resolution,
 * connecting, or sending on an open connection) or once their connection was ready: it waited for its cache, a proxy's address, an
 * extension, or was suspended. No protocol changes that. Requests that a limit may have held back wait for their turn in the emulation too.
 *
 * @returns for how long, milliseconds by `RecordedRequest.id`
 */
export function longWaits(requests: readonly RecordedRequest[]): ReadonlyMap<number, number> {
  const openedMs = connectionsOpenedAt(requests);
  const underwayTo = underwayByOrigin(requests);
  const overH1To = underwayByOrigin(requests.filter(({ protocol }) => protocol === 'h1'));
  const underway = new Underway(requests);
  const mayBeLimited = (request: RecordedRequest, fromMs: number, toMs: number): boolean => {
    const others = (of: Underway) => of.between(fromMs, toMs) - 1;
    if (others(underwayTo.get(originOf(request.url))!) >= MAX_CONNECTIONS_PER_HOST) return true;
    return priorityOf(request).urgency >= LOW_URGENCY && others(underway) >= LOW_PRIORITY_LIMIT;
  };
  const waits = new Map<number, number>();
  for (const request of requests) {
    const { dnsStartMs, connectStartMs, connectEndMs, requestStartMs } = request.phases;
    const overH1 = request.protocol === 'h1' ? overH1To.get(originOf(request.url))! : null;
    const firstMs =
      dnsStartMs ??
      connectStartMs ??
      firstStepMs(request, openedMs) ??
      sentOnIdle(request, overH1) ??
      request.startMs;
    const beforeMs = firstMs - request.startMs;
    const afterMs = connectEndMs === null || requestStartMs === null ? 0 : requestStartMs - connectEndMs;
    const isKept = beforeMs > MIN_WAIT_MS && !mayBeLimited(request, firstMs - MIN_WAIT_MS, firstMs);
    const waitMs = (isKept ? beforeMs : 0) + (afterMs > MIN_WAIT_MS ? afterMs : 0);
    if (waitMs > 0) waits.set(request.id, waitMs);
  }
  return waits;
}

/**
 * When a request left on a connection that had been there and idle, over HTTP/1.1, whose requests take turns; null where it may have
 * waited for its turn.
 */
function sentOnIdle({ phases, startMs }: RecordedRequest, overH1: Underway | null): number | null {
  const { connectStartMs, requestStartMs } = phases;
  if (overH1 === null || connectStartMs !== null || requestStartMs === null) return null;
  const idleMs = requestStartMs - MIN_WAIT_MS;
  const isIdle = idleMs > startMs && overH1.hasEnded(idleMs) && overH1.between(idleMs, requestStartMs) === 1;
  return isIdle ? requestStartMs : null;
}

function underwayByOrigin(requests: readonly RecordedRequest[]): Map<string | null, Underway> {
  const toOrigin = groupBy(requests, ({ url }) => originOf(url));
  return new Map([...toOrigin].map(([origin, own]) => [origin, new Underway(own)]));
}

/** How many requests were under way at a time. */
class Underway {
  readonly #startsMs: number[];
  readonly #endsMs: number[];

  constructor(requests: readonly RecordedRequest[]) {
    this.#startsMs = requests.map(({ startMs }) => startMs).sort((a, b) => a - b);
    this.#endsMs = requests.map(({ endMs }) => endMs).sort((a, b) => a - b);
  }

  /** Whether any had ended by a time. */
  hasEnded(byMs: number): boolean {
    return this.#endsMs[0]! <= byMs;
  }

  between(fromMs: number, toMs: number): number {
    const begun = firstIndexWhere(this.#startsMs, (ms) => ms >= toMs);
    return begun - firstIndexWhere(this.#endsMs, (ms) => ms > fromMs);
  }
}
