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
/** So many times as long as before, all requests but the slowest together are slower, however much they scatter. */
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
 * surely slower, after which the next one waits longer each time.
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
    this.#switchTo(otherThan(this.#transport), 'rolled-back', false);
  }

  /** After a switch: compares, at five looks, the requests since it with those before. */
  #check(nowMs: number): TransportChoice | null {
    const after = this.#own;
    if (after.length % LOOK_EVERY !== 0) return null;
    if (this.#areSlower(this.#checked!.before, after)) {
      this.#waitAfter(nowMs);
      return this.#switchTo(otherThan(this.#transport), 'rolled-back', false);
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
    if (this.#own.length < MIN_REFERENCE || nowMs < this.#notBeforeMs || this.#refused.has(other))
      return null;
    if (other === 'quic' && !mayTryQuic) return null;
    const earlier = this.#own.slice(-RECENT - EARLIER, -RECENT);
    if (earlier.length >= RECENT && this.#areSlower(earlier, this.#own.slice(-RECENT)))
      return this.#switchTo(other, 'slowed-down');
    if (preferred !== null) return preferred === other ? this.#switchTo(other, 'trees') : null;
    return other === 'quic' ? this.#switchTo(other, 'try') : null;
  }

  /** Whether requests are surely slower than those before them. */
  #areSlower(before: readonly TimedRequest[], after: readonly TimedRequest[]): boolean {
    const [earlier, later] = [this.#costs.listCosts(before), this.#costs.listCosts(after)];
    const ratios = (costs: readonly RequestCost[]) => costs.map(({ tookMs, usualMs }) => tookMs / usualMs);
    if (isSlower(ratios(earlier), ratios(later))) return true;
    return after.length >= MIN_MUCH_SLOWER && ratioOf(later) > MUCH_SLOWER * ratioOf(earlier);
  }

  #switchTo(transport: TimedTransport, reason: TransportChoice['reason'], isChecked = true): TransportChoice {
    this.#checked = isChecked && this.#own.length > 0 ? { before: this.#own.slice(-RECENT) } : null;
    this.#own = [];
    this.#transport = transport;
    return { transport, reason };
  }
}

/** What all but the one with the greatest excess took together, over what they usually take. */
function ratioOf(costs: readonly RequestCost[]): number {
  const kept = costs.toSorted((a, b) => a.tookMs - a.usualMs - (b.tookMs - b.usualMs)).slice(0, -1);
  const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
  return sumOf(kept.map(({ tookMs }) => tookMs)) / sumOf(kept.map(({ usualMs }) => usualMs));
}

const otherThan = (transport: TimedTransport): TimedTransport => (transport === 'tcp' ? 'quic' : 'tcp');
