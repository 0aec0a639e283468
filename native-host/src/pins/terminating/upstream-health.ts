/** Whether an origin can be reached under a protocol, with a certificate that is accepted. */
import type { Protocol } from '@hopwise/contract';
import type { Engine } from '../../engine/engine.ts';
import { ExchangeError } from '../../exchange/exchange.ts';
import type { ExchangeErrorCode } from '../../exchange/exchange-fault.ts';
import { otherProtocols } from './retry-policy.ts';

/** What a check of an origin shows, beside its being good. */
export interface Trouble {
  /**
   * - `unusable`: the browser reaches the origin, or is to say itself what is wrong with it; we do not under this protocol,
   * - `unreachable`: nobody does, for now.
   */
  kind: 'unusable' | 'unreachable';
  reason: string;
}

/** How long an origin counts as good after its last response: failures later on are met request by request. */
const GOOD_FOR_MS = 10 * 60_000;
/** From this age on a good origin is checked again beside its use. */
const RECHECK_AFTER_MS = 60_000;
/** How long an origin that cannot be reached is not asked again. */
const UNREACHABLE_FOR_MS = 10_000;
/** For connection and response of one check: as long as the engine gives a connection of HTTP/3. */
const CHECK_LIMIT_MS = 5_000;

const CONNECTIONLESS = new Set<ExchangeErrorCode>(['connect', 'timeout']);
/** What may have befallen the connection of one check alone. */
const MAY_PASS = new Set<ExchangeErrorCode>(['connect', 'protocol', 'reset']);

/**
 * What a check goes over. A connection of its own sees the network, the origin's addresses and its certificate as they are, and
 * waits for no stream. A kept one costs the origin no handshake: enough where nothing is wrong, as every request of an origin
 * in use would otherwise have one beside it each minute, and a new connection's trouble shows in the request that needs it.
 */
export type CheckWay = 'fresh' | 'kept';

interface Check {
  way: CheckWay;
  result: Promise<Trouble | null>;
}

interface Entry {
  protocol: Protocol;
  goodAtMs: number;
  badUntilMs: number;
  /** Whether it asks for a certificate of the client; null until that was looked at. */
  asks: Promise<boolean> | null;
  checking: Check | null;
}

export interface UpstreamHealthOptions {
  engine: Pick<Engine, 'exchange' | 'start'>;
  /** Monotonic, milliseconds. */
  now?: () => number;
  checkLimitMs?: number;
  /** Whether an origin asks for a certificate of the client; looked at with an origin's first check. */
  asksForCertificate?: (host: string, port: number, limitMs: number) => Promise<boolean>;
}

/** Origins are `https://host:port`. */
export class UpstreamHealth {
  readonly #engine: Pick<Engine, 'exchange' | 'start'>;
  readonly #now: () => number;
  readonly #checkLimitMs: number;
  readonly #asksForCertificate: NonNullable<UpstreamHealthOptions['asksForCertificate']>;
  readonly #entries = new Map<string, Entry>();

  constructor(options: UpstreamHealthOptions) {
    this.#engine = options.engine;
    this.#now = options.now ?? (() => performance.now());
    this.#checkLimitMs = options.checkLimitMs ?? CHECK_LIMIT_MS;
    this.#asksForCertificate = options.asksForCertificate ?? (async () => false);
  }

  /** @param withinMs how long ago the last response may be. */
  isGood(origin: string, protocol: Protocol, withinMs: number = GOOD_FOR_MS): boolean {
    return this.#now() - this.#entry(origin, protocol).goodAtMs < withinMs;
  }

  /** Whether a check would tell something new. */
  isDue(origin: string, protocol: Protocol): boolean {
    const { goodAtMs, badUntilMs, checking } = this.#entry(origin, protocol);
    const now = this.#now();
    return !checking && now >= badUntilMs && now - goodAtMs >= RECHECK_AFTER_MS;
  }

  /** A response came. */
  good(origin: string, protocol: Protocol): void {
    const entry = this.#entry(origin, protocol);
    entry.goodAtMs = this.#now();
    entry.badUntilMs = Number.NEGATIVE_INFINITY;
  }

  /** A request failed in a way that concerns more than itself: nothing is known until the next check. */
  doubt(origin: string, protocol: Protocol): void {
    this.#entry(origin, protocol).goodAtMs = Number.NEGATIVE_INFINITY;
  }

  forget(origin: string): void {
    this.#entries.delete(origin);
  }

  /**
   * Asks the origin for a head, without credentials; one check of an origin at a time, but none over a kept connection stands for
   * a fresh one.
   *
   * @returns null when it is good.
   */
  check(origin: string, protocol: Protocol, way: CheckWay = 'fresh'): Promise<Trouble | null> {
    const entry = this.#entry(origin, protocol);
    if (entry.checking && (entry.checking.way === 'fresh' || way === 'kept')) return entry.checking.result;
    const check: Check = { way, result: this.#check(origin, protocol, way, entry) };
    entry.checking = check;
    check.result = check.result.then((trouble) => {
      const later = entry.checking;
      if (later && later !== check) return later.result;
      this.#note(entry, trouble);
      return trouble;
    });
    return check.result;
  }

  #note(entry: Entry, trouble: Trouble | null): void {
    entry.checking = null;
    entry.goodAtMs = trouble ? Number.NEGATIVE_INFINITY : this.#now();
    entry.badUntilMs = trouble ? this.#now() + UNREACHABLE_FOR_MS : Number.NEGATIVE_INFINITY;
  }

  async #check(origin: string, protocol: Protocol, way: CheckWay, entry: Entry): Promise<Trouble | null> {
    const { hostname, port } = new URL(origin);
    entry.asks ??= this.#asksForCertificate(hostname, Number(port || 443), this.#checkLimitMs);
    const [fault, asks] = await Promise.all([this.#askTwice(origin, protocol, way), entry.asks]);
    if (asks) {
      return {
        kind: 'unusable',
        reason: 'the origin asks browsers for a certificate, which is not ours to show',
      };
    }
    if (!fault) return null;
    if (!CONNECTIONLESS.has(fault.code)) return { kind: 'unusable', reason: fault.message };
    for (const other of otherProtocols(protocol)) {
      const otherFault = await this.#ask(origin, other, way);
      // A certificate that is refused has come over a connection.
      if (!otherFault || !CONNECTIONLESS.has(otherFault.code)) {
        return { kind: 'unusable', reason: fault.message };
      }
    }
    return { kind: 'unreachable', reason: fault.message };
  }

  /** As `#ask`, once more where that may tell something else. */
  async #askTwice(origin: string, protocol: Protocol, way: CheckWay): Promise<ExchangeError | null> {
    const fault = await this.#ask(origin, protocol, way);
    return fault && MAY_PASS.has(fault.code) ? this.#ask(origin, protocol, way) : fault;
  }

  /** What is wrong; null for nothing. */
  async #ask(origin: string, protocol: Protocol, way: CheckWay): Promise<ExchangeError | null> {
    const exchange = this.#engine.exchange({
      protocol,
      method: 'HEAD',
      url: `${origin}/`,
      headers: [['accept', '*/*']],
      body: null,
      freshConnection: way === 'fresh',
    });
    let late = false;
    let timer: NodeJS.Timeout | undefined;
    let over = false;
    const begin = (): void => {
      if (over) return;
      timer = setTimeout(() => {
        late = true;
        exchange.cancel();
      }, this.#checkLimitMs);
    };
    // On a busy machine, as when a browser starts, the engine takes seconds to: that says nothing of the origin.
    this.#engine.start().then(begin, begin);
    try {
      await exchange.head;
      exchange.body.resume();
      return null;
    } catch (fault) {
      if (!late && fault instanceof ExchangeError) return fault;
      return new ExchangeError('timeout', `no response within ${this.#checkLimitMs} ms`, true);
    } finally {
      over = true;
      clearTimeout(timer);
    }
  }

  #entry(origin: string, protocol: Protocol): Entry {
    const known = this.#entries.get(origin);
    if (known?.protocol === protocol) return known;
    const never = Number.NEGATIVE_INFINITY;
    const entry = { protocol, goodAtMs: never, badUntilMs: never, asks: null, checking: null };
    this.#entries.set(origin, entry);
    return entry;
  }
}
