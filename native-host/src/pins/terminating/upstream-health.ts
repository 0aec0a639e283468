/** Whether an origin can be reached under a protocol, with a certificate that is accepted. */
import { type AddressSpace, PROTOCOLS, type Protocol } from '@hopwise/contract';
import { CONNECT_TIMEOUT_MS } from '../../curl/easy-options.ts';
import type { Engine } from '../../engine/engine.ts';
import { ExchangeError } from '../../exchange/exchange.ts';
import type { ExchangeErrorCode } from '../../exchange/exchange-fault.ts';
import { authorityOf } from '../origin.ts';
import type { CertificateTarget } from './client-certificate.ts';
import { otherProtocols } from './retry-policy.ts';

/** Why a check of an origin failed. */
interface Trouble {
  /**
   * - `unusable`: the origin is reachable, but not by the helper under this protocol; the browser connects directly,
   * - `unreachable`: the origin cannot be reached at all for now.
   */
  kind: 'unusable' | 'unreachable';
  reason: string;
  /** None of its addresses may be reached. */
  isAddressRefused?: true;
}

/** An origin as it is checked. */
export interface CheckedOrigin {
  /** `https://host:port`. */
  origin: string;
  protocol: Protocol;
  /** Bounds the addresses that it may be connected to. */
  from: AddressSpace;
  /** Whose kept connections are used. */
  partition: string;
}

/** How long an origin counts as good after its last response; later failures are handled request by request. */
const GOOD_FOR_MS = 10 * 60_000;
/** Age of the last response from which a good origin is checked again while in use. */
const RECHECK_AFTER_MS = 60_000;
/** How long an unreachable origin is not checked again. */
export const UNREACHABLE_FOR_MS = 10_000;
/** For connection and response of one check. */
const CHECK_LIMIT_MS = CONNECT_TIMEOUT_MS.h3;

const ASKS_FOR_CERTIFICATE = 'the origin asks for a client certificate, which only the browser can present';

const CONNECTIONLESS = new Set<ExchangeErrorCode>(['connect', 'timeout']);
/** Failures that may concern only the connection of one check. */
const TRANSIENT = new Set<ExchangeErrorCode>(['connect', 'protocol', 'reset']);

/**
 * The connection of a check. A `fresh` one tests the network, the origin's current addresses and its certificate, and waits for
 * no stream. A `kept` one costs the origin no handshake, and suffices where nothing is wrong: an origin in use is checked each
 * minute, and problems of new connections show in the requests that need them.
 */
export type CheckConnection = 'fresh' | 'kept';

interface Check {
  connection: CheckConnection;
  result: Promise<Trouble | null>;
}

interface Entry {
  goodAtMs: number;
  badUntilMs: number;
  /** Whether it asks for a client certificate; null until that was checked. */
  asks: Promise<boolean> | null;
  checking: Check | null;
  /** Partitions. */
  nudged: Set<string>;
}

interface UpstreamHealthOptions {
  engine: Pick<Engine, 'exchange' | 'start'>;
  /** Monotonic, milliseconds. */
  now?: () => number;
  checkLimitMs?: number;
  /** Whether an origin asks for a client certificate; called with an origin's first check, and with the next one after a failure. */
  asksForCertificate?: (target: CertificateTarget, limitMs: number) => Promise<boolean>;
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

  /** @param withinMs maximum age of the last response. */
  isGood(origin: string, protocol: Protocol, withinMs: number = GOOD_FOR_MS): boolean {
    return this.#now() - this.#entry(origin, protocol).goodAtMs < withinMs;
  }

  /** Whether a check is due. */
  isDue(origin: string, protocol: Protocol): boolean {
    const { goodAtMs, badUntilMs, checking } = this.#entry(origin, protocol);
    const now = this.#now();
    return !checking && now >= badUntilMs && now - goodAtMs >= RECHECK_AFTER_MS;
  }

  /** To be called for each response. */
  noteAnswer(origin: string, protocol: Protocol): void {
    const entry = this.#entry(origin, protocol);
    entry.goodAtMs = this.#now();
    entry.badUntilMs = Number.NEGATIVE_INFINITY;
  }

  /** A failure may concern the origin as a whole: it does not count as good until the next check. */
  noteFailure(origin: string, protocol: Protocol): void {
    this.#entry(origin, protocol).goodAtMs = Number.NEGATIVE_INFINITY;
  }

  forget(origin: string): void {
    for (const protocol of PROTOCOLS) this.#entries.delete(`${origin} ${protocol}`);
  }

  /**
   * Sends the origin a HEAD request without credentials. One check of an origin runs at a time, except that a check over a kept
   * connection does not replace a fresh one.
   *
   * @returns null when it is good.
   */
  check(checked: CheckedOrigin, connection: CheckConnection = 'fresh'): Promise<Trouble | null> {
    const entry = this.#entry(checked.origin, checked.protocol);
    if (entry.checking && (entry.checking.connection === 'fresh' || connection === 'kept'))
      return entry.checking.result;
    const check: Check = { connection, result: this.#check(checked, connection, entry) };
    entry.checking = check;
    check.result = check.result.then((trouble) => {
      const later = entry.checking;
      if (later && later !== check) return later.result;
      this.#note(entry, trouble);
      return trouble;
    });
    return check.result;
  }

  /** Has something sent on an open connection, whatever the answer: over QUIC its acknowledgement is missed where nothing comes back. */
  nudge(checked: CheckedOrigin): void {
    const entry = this.#entry(checked.origin, checked.protocol);
    const { partition } = checked;
    if (entry.nudged.has(partition)) return;
    entry.nudged.add(partition);
    void this.#ask(checked, 'kept').then(() => entry.nudged.delete(partition));
  }

  #note(entry: Entry, trouble: Trouble | null): void {
    entry.checking = null;
    // What could not be asked is taken for one that does not ask.
    if (trouble) entry.asks = null;
    entry.goodAtMs = trouble ? Number.NEGATIVE_INFINITY : this.#now();
    entry.badUntilMs = trouble ? this.#now() + UNREACHABLE_FOR_MS : Number.NEGATIVE_INFINITY;
  }

  async #check(checked: CheckedOrigin, connection: CheckConnection, entry: Entry): Promise<Trouble | null> {
    const target = { ...authorityOf(checked.origin), from: checked.from };
    entry.asks ??= this.#asksForCertificate(target, this.#checkLimitMs);
    const [fault, asks] = await Promise.all([this.#askTwice(checked, connection), entry.asks]);
    if (asks) return { kind: 'unusable', reason: ASKS_FOR_CERTIFICATE };
    if (!fault) return null;
    if (fault.code === 'local-address')
      return { kind: 'unusable', reason: fault.message, isAddressRefused: true };
    if (!CONNECTIONLESS.has(fault.code)) return { kind: 'unusable', reason: fault.message };
    for (const other of otherProtocols(checked.protocol)) {
      const otherFault = await this.#ask({ ...checked, protocol: other }, connection);
      // Where an origin has several addresses, libcurl reports the failure of the first, which may be none of the certificate.
      if (otherFault?.code === 'certificate') return { kind: 'unusable', reason: otherFault.message };
      if (!otherFault || !CONNECTIONLESS.has(otherFault.code))
        return { kind: 'unusable', reason: fault.message };
    }
    return { kind: 'unreachable', reason: fault.message };
  }

  /** Asks the origin, and once more after a transient failure. */
  async #askTwice(checked: CheckedOrigin, connection: CheckConnection): Promise<ExchangeError | null> {
    const fault = await this.#ask(checked, connection);
    return fault && TRANSIENT.has(fault.code) ? this.#ask(checked, connection) : fault;
  }

  /** @returns null on success. */
  async #ask(
    { origin, protocol, from, partition }: CheckedOrigin,
    connection: CheckConnection,
  ): Promise<ExchangeError | null> {
    const exchange = this.#engine.exchange({
      protocol,
      from,
      partition,
      method: 'HEAD',
      // As requests name it, without a default port, so that a kept connection is one of theirs.
      url: `${new URL(origin).origin}/`,
      headers: [['accept', '*/*']],
      body: null,
      freshConnection: connection === 'fresh',
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
    // On a busy machine, for instance while a browser starts, the engine's start takes seconds, which must not count against the origin.
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
    const key = `${origin} ${protocol}`;
    const known = this.#entries.get(key);
    if (known) return known;
    const never = Number.NEGATIVE_INFINITY;
    const entry = {
      goodAtMs: never,
      badUntilMs: never,
      asks: null,
      checking: null,
      nudged: new Set<string>(),
    };
    this.#entries.set(key, entry);
    return entry;
  }
}
