import { sum } from '@hopwise/contract';
import { isSlower } from '../rollback/sequential-check.ts';
import { type RequestCost, RequestCosts, type TimedRequest } from './request-costs.ts';

export type TimedTransport = TimedRequest['transport'];

/** Requests that are compared after a switch, in looks of two each (`isSlower` expects five). */
const CHECKED_REQUESTS = 10;
const LOOK_EVERY = 2;
/** Requests under the present transport before another one is tried. */
const MIN_REFERENCE = 10;
/** The newest ones stand for what the network is like now, and those before them for what it was like. */
const RECENT = 10;
const EARLIER = 30;
/** Below it a surely slower transport is no reason to try the other one: many looks find such differences by chance. */
const WORTH_A_TRY = 1.2;
/** The factor from which on all requests but the slowest together count as slower than before, however much they scatter. */
const MUCH_SLOWER = 1.5;
const MIN_MUCH_SLOWER = 4;
/** The first waiting time after a switch that was rolled back, milliseconds; it doubles with each, up to the longest. */
const FIRST_WAIT_MS = 30_000;
const LONGEST_WAIT_MS = 15 * 60_000;

/** What has been decided, and why; for people who read the log. */
export interface TransportChoice {
  transport: TimedTransport;
  reason: 'try' | 'trees' | 'slowed-down' | 'rolled-back';
}

/**
 * Chooses the transport of an origin's next requests while a session runs: QUIC unless hindered, with the rollback checker of WiseTrans
 * (Zhang et al., WWW 2021, section 3.4) on requests.
 *
 * Trees over the requests' features say which transport the next ones are to use, once there are requests over the present one to
 * compare with. Where there are none, QUIC is tried; the other transport is tried, too, when requests have become surely
 * slower than they were. The requests since a switch are compared with those before it, and the switch is taken back where they are
 * surely slower, after which the next one waits longer each time. The wait ends where requests become much slower: what the rollback has
 * shown is then out of date.
 */
export class TransportChooser {
  readonly #costs = new RequestCosts();
  #transport: TimedTransport = 'tcp';
  readonly #refused = new Set<TimedTransport>();
  /** Requests under the present transport, oldest first. */
  #own: TimedRequest[] = [];
  /** The requests before a switch that is being checked. */
  #checked: { before: TimedRequest[] } | null = null;
  #waitMs = FIRST_WAIT_MS;
  #notBeforeMs = Number.NEGATIVE_INFINITY;

  get transport(): TimedTransport {
    return this.#transport;
  }

  /**
   * Adds requests, oldest first.
   *
   * @param mayTryQuic whether nothing that is known of the network speaks against QUIC
   * @param preferred what the trees prefer; null where they have no say
   * @returns the transport of the next requests where it changes, else null
   */
  add(
    requests: readonly TimedRequest[],
    mayTryQuic: boolean,
    preferred: TimedTransport | null = null,
  ): TransportChoice | null {
    for (const request of requests) {
      // Requests that were in progress at a switch say nothing of it.
      if (request.transport !== this.#transport || !(request.completionMs > 0)) continue;
      this.#costs.add(request);
      this.#own = [...this.#own, request].slice(-RECENT - EARLIER);
      const choice = this.#checked
        ? this.#check(request.endedAtMs)
        : this.#consider(request.endedAtMs, mayTryQuic, preferred);
      if (choice) return choice;
    }
    return null;
  }

  /**
   * The last switch could not be made.
   *
   * @param isFinal whether the origin does not answer under that transport, which is then not tried again
   */
  undoSwitch(nowMs: number, isFinal: boolean): void {
    if (isFinal) this.#refused.add(this.#transport);
    this.#waitAfter(nowMs);
    this.#switchBack();
  }

  /** After a switch: compares, at five looks, the requests since it with those before. */
  #check(nowMs: number): TransportChoice | null {
    const after = this.#own;
    if (after.length % LOOK_EVERY !== 0) return null;
    if (this.#areSlower(this.#checked!.before, after)) {
      this.#waitAfter(nowMs);
      return this.#switchBack();
    }
    if (after.length >= CHECKED_REQUESTS) this.#checked = null;
    return null;
  }

  #waitAfter(nowMs: number): void {
    this.#notBeforeMs = nowMs + this.#waitMs;
    this.#waitMs = Math.min(2 * this.#waitMs, LONGEST_WAIT_MS);
  }

  #consider(nowMs: number, mayTryQuic: boolean, preferred: TimedTransport | null): TransportChoice | null {
    const other = otherThan(this.#transport);
    if (this.#own.length < MIN_REFERENCE || this.#refused.has(other)) return null;
    if (other === 'quic' && !mayTryQuic) return null;
    if (this.#haveSlowedDown(nowMs < this.#notBeforeMs)) return this.#switchTo(other, 'slowed-down');
    if (nowMs < this.#notBeforeMs) return null;
    if (preferred !== null) return preferred === other ? this.#switchTo(other, 'trees') : null;
    return other === 'quic' ? this.#switchTo(other, 'try') : null;
  }

  /** Whether the newest requests are slower than those before them, by so much that the other transport is worth a try. */
  #haveSlowedDown(onlyIfMuch: boolean): boolean {
    const earlier = this.#own.slice(-RECENT - EARLIER, -RECENT);
    if (earlier.length < RECENT) return false;
    const recent = this.#own.slice(-RECENT);
    const slowdown = this.#slowdownOf(earlier, recent);
    if (slowdown > MUCH_SLOWER) return true;
    return !onlyIfMuch && slowdown > WORTH_A_TRY && this.#areSlower(earlier, recent);
  }

  /** Whether requests are surely slower than those before them. */
  #areSlower(before: readonly TimedRequest[], after: readonly TimedRequest[]): boolean {
    const ratios = (requests: readonly TimedRequest[]) =>
      this.#costs.listCosts(requests).map(({ tookMs, usualMs }) => tookMs / usualMs);
    if (isSlower(ratios(before), ratios(after))) return true;
    return after.length >= MIN_MUCH_SLOWER && this.#slowdownOf(before, after) > MUCH_SLOWER;
  }

  /** How many times as long requests take as those before them, all but the slowest together. */
  #slowdownOf(before: readonly TimedRequest[], after: readonly TimedRequest[]): number {
    return ratioOf(this.#costs.listCosts(after)) / ratioOf(this.#costs.listCosts(before));
  }

  #switchTo(transport: TimedTransport, reason: TransportChoice['reason']): TransportChoice {
    this.#checked = this.#own.length > 0 ? { before: this.#own.slice(-RECENT) } : null;
    this.#own = [];
    this.#transport = transport;
    return { transport, reason };
  }

  /** The requests before the switch stay what the next ones are compared with. */
  #switchBack(): TransportChoice {
    this.#own = this.#checked?.before ?? [];
    this.#checked = null;
    this.#transport = otherThan(this.#transport);
    return { transport: this.#transport, reason: 'rolled-back' };
  }
}

/** What all but the one with the greatest excess took together, over what they usually take. */
function ratioOf(costs: readonly RequestCost[]): number {
  const kept = costs.toSorted((a, b) => a.tookMs - a.usualMs - (b.tookMs - b.usualMs)).slice(0, -1);
  return sum(kept.map(({ tookMs }) => tookMs)) / sum(kept.map(({ usualMs }) => usualMs));
}

const otherThan = (transport: TimedTransport): TimedTransport => (transport === 'tcp' ? 'quic' : 'tcp');
