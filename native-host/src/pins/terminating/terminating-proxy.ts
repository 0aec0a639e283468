/**
 * The proxy of pins to a protocol: terminates the browser's TLS and forwards requests to their origin under the pinned protocol.
 * It fails open: only connections to origins that are known to work are terminated, all others are tunnelled.
 */
import {
  type AddressSpace,
  type MeasuredExchange,
  mayReach,
  type PinWait,
  PROTOCOL_NAME,
  type Protocol,
} from '@hopwise/contract';
import { explainMissing } from '../../ca/authority-status.ts';
import type { LeafIssuer } from '../../ca/leaf-issuer.ts';
import type { Engine } from '../../engine/engine.ts';
import { ExchangeError } from '../../exchange/exchange.ts';
import { type ExchangeErrorCode, isHandshakeFailure } from '../../exchange/exchange-fault.ts';
import { ENDING_TIMEOUT_MS } from '../proxy/end-when-idle.ts';
import type { ProxyRoute } from '../proxy/loopback-proxy.ts';
import { BrowserTrust, DISTRUST } from './browser-trust.ts';
import { asksForCertificate } from './client-certificate.ts';
import { type RelayEvents, SUSPECT_AFTER_MS } from './relay.ts';
import { TerminatedOrigin } from './terminated-origin.ts';
import { type CheckConnection, UNREACHABLE_FOR_MS, UpstreamHealth } from './upstream-health.ts';

export interface TerminatorHooks {
  /** The origin's pin does not work: it is lifted and reported. */
  onLifted(host: string, port: number, reason: string): void;
  /** The pin is lifted because the origin has no address that it may be connected to. */
  onAddressRefused(host: string, port: number, reason: string): void;
  /** The origin's connections are terminated from now on: its tunnels end. */
  onReady(host: string, port: number): void;
  /** The origin's connections are not terminated until it is known to work again, or what they wait for is another thing now. */
  onDoubt(): void;
  /** Requests of an `auto` pin go under another protocol from now on, because the former one does not work. */
  onFallback(): void;
  /** A response of an `auto` pin's origin has arrived. */
  onMeasured(host: string, port: number, exchange: MeasuredExchange): void;
  /** Whether connections to an origin are tunnelled, or are about to be. */
  isTunnelled(host: string, port: number): boolean;
  log(line: string): void;
}

/** What pins need of the proxy. */
export type Terminator = Pick<
  TerminatingProxy,
  | 'explainObstacle'
  | 'pin'
  | 'unpin'
  | 'steer'
  | 'findProtocol'
  | 'findWait'
  | 'routeConnect'
  | 'routeTrial'
  | 'trialToken'
  | 'listUntriedHosts'
  | 'listCaHosts'
  | 'close'
>;

export interface TerminatingProxyOptions extends TerminatorHooks {
  engine: Pick<Engine, 'exchange' | 'start' | 'release'>;
  issuer: LeafIssuer;
  /** @returns a key of the network that the machine is on, null where it is not recognised */
  identifyNetwork(): string | null;
  /** Instead of a handshake with the origin. */
  asksForCertificate?: typeof asksForCertificate;
  /** Time limit of one check of an origin. */
  checkLimitMs?: number;
  /** How long connections go on at most that accept no further request. */
  endingTimeoutMs?: number;
  /** Interval of HTTP/2 PINGs to browsers. */
  pingEveryMs?: number;
}

const NOT_AUTO = 'the origin has no pin of the kind auto';

/** The protocol of an `auto` pin until it is steered, and the one that it falls back to: every origin that can be pinned has it. */
const AUTO_START = 'h2';

/** The longest time between two checks of an origin that is in use and cannot be reached. */
const CHECK_AGAIN_AT_MOST_MS = 5 * 60_000;

/** Failures after which further attempts under this protocol would fail as well. */
const LIFTING = new Set<ExchangeErrorCode>(['certificate', 'protocol', 'engine-died']);
/** Failures whose cause may be the protocol, the origin or the network. */
const DOUBTFUL = new Set<ExchangeErrorCode>(['connect', 'timeout']);

/** Hosts are as in `URL.hostname`. */
export class TerminatingProxy {
  readonly #options: TerminatingProxyOptions;
  readonly #health: UpstreamHealth;
  readonly #trust: BrowserTrust;
  readonly #origins = new Map<string, TerminatedOrigin>();
  /** Unpinned origins, until their last connection has ended. */
  readonly #ending = new Set<TerminatedOrigin>();

  constructor(options: TerminatingProxyOptions) {
    this.#options = options;
    this.#health = new UpstreamHealth({ asksForCertificate, ...options });
    this.#trust = new BrowserTrust({
      issuer: options.issuer,
      log: options.log,
      onTrusted: (host) => {
        const origins = this.#originsOf(host);
        for (const origin of origins) this.#reportReadiness(origin);
        if (origins.some(({ isReady }) => !isReady)) options.onDoubt();
      },
      onDistrusted: (host) => this.#distrusted(host),
    });
  }

  get #endingTimeoutMs(): number {
    return this.#options.endingTimeoutMs ?? ENDING_TIMEOUT_MS;
  }

  /** Number of terminated connections of the browser. */
  get open(): number {
    return [...this.#origins.values(), ...this.#ending].reduce((sum, { open }) => sum + open, 0);
  }

  /** Why the host cannot be pinned to a protocol, with the fix, in one line; '' when it can. */
  explainObstacle(host: string): string {
    return this.#options.issuer.contextFor(host) ? '' : explainMissing(host);
  }

  /**
   * Pins an origin, or changes its pin: new requests on open connections use the new protocol at once.
   *
   * @param kind `auto` begins with HTTP/2
   * @param from bounds the addresses that it may be connected to
   */
  pin(host: string, port: number, kind: Protocol | 'auto', from: AddressSpace = 'public'): void {
    const key = `${host}:${port}`;
    const isAuto = kind === 'auto';
    const protocol = isAuto ? AUTO_START : kind;
    let origin = this.#origins.get(key);
    if (origin && !mayReach(from, origin.from)) {
      // Its connections, and upgraded ones, may lead where this pin may not.
      this.unpin(host, port);
      origin.destroy();
      origin = undefined;
    }
    if (!origin) {
      origin = this.#newOrigin(host, port, protocol, isAuto, from);
      this.#origins.set(key, origin);
    }
    origin.protocol = protocol;
    origin.isAuto = isAuto;
    origin.refused.clear();
    origin.rested.clear();
    if (origin.from !== from) this.#health.forget(origin.origin);
    origin.from = from;
    this.#reportReadiness(origin);
    this.#checkWhenDue(origin);
  }

  /**
   * Sends the next requests to an origin with an `auto` pin under a protocol, once the origin has answered under it. Those in progress
   * end where they are.
   *
   * @returns why it cannot, for the user; '' when it does
   */
  async steer(host: string, port: number, protocol: Protocol): Promise<string> {
    const origin = this.#origins.get(`${host}:${port}`);
    if (!origin?.isAuto) return NOT_AUTO;
    if (origin.protocol === protocol) return '';
    if (this.#isRefused(origin, protocol))
      return `the origin does not answer over ${PROTOCOL_NAME[protocol]}`;
    const { origin: url, from, partition } = origin;
    // Even where it is good: the next requests then find an open connection.
    const trouble = await this.#health.check({ origin: url, protocol, from, partition }, 'kept');
    // It may have been unpinned meanwhile.
    if (this.#origins.get(`${host}:${port}`) !== origin || !origin.isAuto) return NOT_AUTO;
    if (trouble?.kind === 'unusable') origin.refused.set(protocol, this.#options.identifyNetwork());
    if (trouble) return trouble.reason;
    origin.protocol = protocol;
    this.#options.log(`pin: ${url} is steered to ${protocol}`);
    this.#reportReadiness(origin);
    return '';
  }

  /** Whether a protocol has turned out not to work on this network: on another one it is tried again. */
  #isRefused({ refused }: TerminatedOrigin, protocol: Protocol): boolean {
    return refused.has(protocol) && refused.get(protocol) === this.#options.identifyNetwork();
  }

  /** The protocol of an origin's next requests; null where it is not pinned. */
  findProtocol(host: string, port: number): Protocol | null {
    return this.#origins.get(`${host}:${port}`)?.protocol ?? null;
  }

  /** What the pin of an origin waits for; null when it is in effect. */
  findWait(host: string, port: number): PinWait | null {
    const origin = this.#origins.get(`${host}:${port}`);
    return origin ? this.#findWait(origin) : null;
  }

  /** Path of the trials' URLs, behind the slash: requests for other paths are not the browser's own. */
  get trialToken(): string {
    return this.#trust.token;
  }

  /** Hosts whose trial has not taken place. */
  listUntriedHosts(): string[] {
    const hosts = new Set(Array.from(this.#origins.values(), ({ host }) => host));
    return [...hosts].filter((host) => !this.#trust.isTrusted(host));
  }

  /** Hosts that the local CA may sign for. */
  listCaHosts(): string[] {
    return this.#options.issuer.listHosts();
  }

  /** Its connections accept no further request, and end with those in progress. */
  unpin(host: string, port: number): void {
    const key = `${host}:${port}`;
    const origin = this.#origins.get(key);
    if (!origin) return;
    this.#origins.delete(key);
    clearTimeout(origin.nextCheck);
    this.#health.forget(origin.origin);
    this.#options.engine.release(new URL(origin.origin).origin, null);
    origin.end(this.#endingTimeoutMs);
    for (const former of this.#ending) if (former.open === 0) this.#ending.delete(former);
    if (origin.open > 0) this.#ending.add(origin);
  }

  /** The route of a CONNECT: a tunnel until the origin is known to work under its protocol. */
  routeConnect(host: string, port: number): ProxyRoute {
    const origin = this.#origins.get(`${host}:${port}`);
    if (!origin) return { kind: 'tunnel', from: 'public' };
    const context = this.#options.issuer.contextFor(host);
    if (!context) {
      this.#lift(origin, explainMissing(host));
      return { kind: 'tunnel', from: origin.from };
    }
    this.#reportReadiness(origin);
    this.#checkWhenDue(origin);
    if (!origin.isReady) return { kind: 'tunnel', from: origin.from };
    return { kind: 'terminate', accept: (socket) => origin.accept(socket, context) };
  }

  /** The route of a CONNECT to a host's `TRUST_TRIAL_PORT`. */
  routeTrial(host: string): ProxyRoute {
    if (this.#trust.isTrusted(host) || this.#originsOf(host).length === 0) return { kind: 'refuse' };
    return { kind: 'terminate', accept: (socket) => this.#trust.accept(socket, host) };
  }

  /** Ends all connections at once. */
  close(): void {
    for (const origin of [...this.#origins.values(), ...this.#ending]) {
      clearTimeout(origin.nextCheck);
      origin.destroy();
    }
    this.#origins.clear();
    this.#ending.clear();
  }

  #newOrigin(
    host: string,
    port: number,
    protocol: Protocol,
    isAuto: boolean,
    from: AddressSpace,
  ): TerminatedOrigin {
    const { engine, log, onMeasured } = this.#options;
    const events: RelayEvents = {
      onAnswered: (pinned) => this.#health.noteAnswer(origin.origin, pinned),
      onOtherAnswered: (pinned, fault) => {
        // The network may have failed and recovered in between: the check that `onFailed` has begun decides.
        if (pinned === origin.protocol && !isDoubtful(fault))
          this.#lift(origin, `the origin answers, but not over ${PROTOCOL_NAME[pinned]}`);
      },
      onFailed: (pinned, fault) => {
        if (pinned === origin.protocol) this.#onFailed(origin, fault);
      },
      onOvertaken: (pinned, by) => {
        this.#health.noteAnswer(origin.origin, by);
        if (pinned === origin.protocol) this.#onOvertaken(origin, by);
      },
      onLate: (late, partition) =>
        this.#health.nudge({ origin: origin.origin, protocol: late, from: origin.from, partition }),
      onSuspect: (pinned) => {
        if (pinned !== origin.protocol) return;
        if (!this.#health.isGood(origin.origin, pinned, SUSPECT_AFTER_MS)) void this.#check(origin);
      },
      onMeasured: (exchange) => onMeasured(host, port, exchange),
      onUnforwardable: (pinned, reason) => {
        if (pinned === origin.protocol) this.#lift(origin, `a response cannot be forwarded: ${reason}`);
      },
    };
    const origin: TerminatedOrigin = new TerminatedOrigin({
      host,
      port,
      protocol,
      isAuto,
      from,
      engine,
      log,
      events,
      onDistrusted: () => this.#distrusted(host),
      pingEveryMs: this.#options.pingEveryMs,
    });
    return origin;
  }

  #onFailed(origin: TerminatedOrigin, fault: ExchangeError): void {
    if (isDoubtful(fault)) {
      if (origin.isReady)
        this.#options.log(
          `pin: ${origin.origin} is in doubt: ${fault.message} (${fault.code}, ${fault.phase ?? 'before the engine'})`,
        );
      this.#health.noteFailure(origin.origin, origin.protocol);
      this.#reportReadiness(origin);
      origin.closeInOrder(this.#endingTimeoutMs);
      void this.#check(origin);
    } else if (fault.code === 'local-address') this.#refuseAddress(origin, fault.message);
    else if (LIFTING.has(fault.code)) this.#lift(origin, fault.message);
  }

  /** Nothing at all comes back under the pinned protocol, while the origin has answered under another one. */
  #onOvertaken(origin: TerminatedOrigin, by: Protocol): void {
    const { protocol } = origin;
    const reason = `nothing comes back over ${PROTOCOL_NAME[protocol]}, while the origin answers over ${PROTOCOL_NAME[by]}`;
    this.#health.noteFailure(origin.origin, protocol);
    if (this.#fallBack(origin, reason, 'rests')) origin.useNextProtocol(protocol, reason);
    else this.#onFailed(origin, new ExchangeError('timeout', reason, true));
  }

  #checkWhenDue(origin: TerminatedOrigin): void {
    if (!this.#health.isDue(origin.origin, origin.protocol)) return;
    void this.#check(origin, this.#health.isGood(origin.origin, origin.protocol) ? 'kept' : 'fresh');
  }

  async #check(origin: TerminatedOrigin, connection: CheckConnection = 'fresh'): Promise<void> {
    const { protocol, host, port, from, partition } = origin;
    const checked = { origin: origin.origin, protocol, from, partition };
    const trouble = await this.#health.check(checked, connection);
    if (this.#origins.get(`${host}:${port}`) !== origin || origin.protocol !== protocol) return;
    this.#reportReadiness(origin);
    if (!trouble) {
      clearTimeout(origin.nextCheck);
      origin.checkAgainMs = UNREACHABLE_FOR_MS;
    } else if (trouble.kind === 'unusable') {
      if (trouble.isAddressRefused) this.#refuseAddress(origin, trouble.reason);
      else this.#lift(origin, trouble.reason);
      origin.useNextProtocol(protocol, trouble.reason);
    } else {
      this.#options.log(`pin: ${origin.origin} cannot be reached: ${trouble.reason}`);
      this.#checkLater(origin);
    }
  }

  /**
   * Has an origin checked again by time, less and less often, while connections to it are tunnelled: one that stays open needs no further
   * CONNECT, which would have it checked. Without any, the next one does.
   */
  #checkLater(origin: TerminatedOrigin): void {
    const { host, port } = origin;
    clearTimeout(origin.nextCheck);
    origin.nextCheck = setTimeout(() => {
      const isInUse = this.#options.isTunnelled(host, port);
      origin.checkAgainMs = isInUse
        ? Math.min(2 * origin.checkAgainMs, CHECK_AGAIN_AT_MOST_MS)
        : UNREACHABLE_FOR_MS;
      if (isInUse && !this.#health.isGood(origin.origin, origin.protocol)) void this.#check(origin);
    }, origin.checkAgainMs).unref();
  }

  #findWait({ host, origin, protocol }: TerminatedOrigin): PinWait | null {
    if (!this.#trust.isTrusted(host)) return 'trust';
    return this.#health.isGood(origin, protocol) ? null : 'answer';
  }

  /** Reports each change of whether an origin's connections can be terminated. */
  #reportReadiness(origin: TerminatedOrigin): void {
    const isReady = this.#findWait(origin) === null;
    if (isReady === origin.isReady) return;
    origin.isReady = isReady;
    if (isReady) this.#options.onReady(origin.host, origin.port);
    else this.#options.onDoubt();
  }

  #distrusted(host: string): void {
    this.#trust.forget(host);
    for (const origin of this.#originsOf(host)) this.#lift(origin, DISTRUST);
  }

  #originsOf(host: string): TerminatedOrigin[] {
    return [...this.#origins.values()].filter((origin) => origin.host === host);
  }

  #lift(origin: TerminatedOrigin, reason: string): void {
    if (this.#fallBack(origin, reason)) return;
    if (this.#unpin(origin, reason)) this.#options.onLifted(origin.host, origin.port, reason);
  }

  /**
   * An `auto` pin outlives a protocol that does not work.
   *
   * @param former whether the protocol may be steered to again, the first time on a network; it rests until then
   * @returns whether there is another one
   */
  #fallBack(origin: TerminatedOrigin, reason: string, former: 'rests' | 'refused' = 'refused'): boolean {
    if (!origin.isAuto || origin.protocol === AUTO_START) return false;
    this.#options.log(`pin: ${origin.origin} is no longer steered to ${origin.protocol}: ${reason}`);
    const network = this.#options.identifyNetwork();
    const { protocol, rested } = origin;
    const isRepeated = rested.has(protocol) && rested.get(protocol) === network;
    if (former === 'refused' || isRepeated) origin.refused.set(protocol, network);
    else rested.set(protocol, network);
    origin.protocol = AUTO_START;
    this.#reportReadiness(origin);
    this.#checkWhenDue(origin);
    this.#options.onFallback();
    return true;
  }

  #refuseAddress(origin: TerminatedOrigin, reason: string): void {
    if (this.#unpin(origin, reason)) this.#options.onAddressRefused(origin.host, origin.port, reason);
  }

  /** @returns whether it was pinned. */
  #unpin(origin: TerminatedOrigin, reason: string): boolean {
    const { host, port } = origin;
    if (this.#origins.get(`${host}:${port}`) !== origin) return false;
    this.#options.log(`pin: ${origin.origin} is no longer pinned: ${reason}`);
    this.unpin(host, port);
    return true;
  }
}

function isDoubtful(fault: ExchangeError): boolean {
  return DOUBTFUL.has(fault.code) || isHandshakeFailure(fault);
}
