/** Pins and the proxy that puts them into effect, which listens only while there is a pin. */
import {
  type AddressSpace,
  EVERY_ORIGIN,
  isAskedWithoutProxy,
  isLocalHost,
  MAX_EXCEPTIONS,
  MAX_PROXY_PORTS,
  type MeasuredExchange,
  type PinState,
  type PinWait,
  PROTOCOL_NAME,
  type Protocol,
  TRUST_TRIAL_PORT,
} from '@hopwise/contract';
import { RequestError } from '../base/errors.ts';
import type { Lookup } from '../dns/lookup.ts';
import { ExchangeReports } from './exchange-reports.ts';
import { authorityOf, explainEveryOrigin, explainLocalOrigin, originOf } from './origin.ts';
import { type NewPin, type Pin, spaceOf } from './pin.ts';
import type { PinStore } from './pin-store.ts';
import { Pins, type RouteChangeCause } from './pins.ts';
import { LoopbackProxy, type ProxyRoute } from './proxy/loopback-proxy.ts';
import { explainUnknownUsers } from './proxy/socket-users.ts';
import type { Terminator, TerminatorHooks } from './terminating/terminating-proxy.ts';

interface PinServiceOptions {
  store: PinStore;
  log(line: string): void;
  /** Called on changes without a request: a pin took effect, expired or was lifted, or the browser may have disabled the proxy. */
  onChange(): void;
  /** What requests to an origin with an `auto` pin have shown. */
  onExchanges(origin: string, exchanges: MeasuredExchange[]): void;
  createTerminator(hooks: TerminatorHooks): Terminator;
  /** Where the system configures a proxy for browsers, '' for nowhere. */
  systemProxy?: () => Promise<string>;
  graceMs?: number;
  /** Instead of the configured resolver. */
  lookup?: Lookup;
}

export interface PinServiceState {
  /** 0 while all pins are lifted. */
  port: number;
  resets: number;
  caHosts: string[];
  trials: string[];
  trialToken: string;
  pins: PinState[];
  /** While a pin of `EVERY_ORIGIN` is in effect. */
  everyOrigin?: { ports: number[]; exceptions: string[] };
}

/**
 * How long the proxy serves an origin after its pin has ended: the extension learns of the end by a message, and the browser applies
 * new proxy settings in the background.
 */
const GRACE_MS = 30_000;
/** Resets come in bursts; the proxy settings need to be applied only once for each burst. */
const RESET_NOTIFY_DELAY_MS = 1_000;

/** Says until when a pin waits. @param protocol the pin's; null where it has none, and so waits for no answer over it */
function explainWait(wait: PinWait, protocol: Protocol | null): string {
  switch (wait) {
    case 'proxy':
      return (
        'until the browser requests it through a proxy, which Chromium never does for this machine itself, and Firefox only if ' +
        'network.proxy.allow_hijacking_localhost is set'
      );
    case 'trust':
      return 'until this browser has shown that it trusts the local CA';
    case 'answer':
      return `until the origin has answered over ${protocol && PROTOCOL_NAME[protocol]}`;
  }
}

interface EndedPin {
  /** On the clock of `performance.now()`. */
  untilMs: number;
  from: AddressSpace;
}

export class PinService {
  readonly #options: PinServiceOptions;
  readonly #graceMs: number;
  readonly #pins: Pins;
  readonly #terminator: Terminator;
  readonly #reports: ExchangeReports;
  /** Origins whose pin has ended and that are still served. */
  readonly #ended = new Map<string, EndedPin>();
  /** Origins that the proxy cannot reach, oldest first, of the pin of `EVERY_ORIGIN`. */
  readonly #exceptions = new Set<string>();
  /** Hosts that the browser has requested through the proxy although most browsers bypass it for them. */
  readonly #proxied = new Set<string>();
  /** Resolves when it is known whether the system's proxy settings allow the restored pins. */
  readonly #restored: Promise<string>;
  #hadNoSystemProxy = false;
  #proxy: LoopbackProxy | null = null;
  #listening: Promise<number> | null = null;
  /** Further ports of the proxy; null before a pin of `EVERY_ORIGIN`. */
  #morePorts: Promise<number[]> | null = null;
  #resets = 0;
  #resetsTimer: NodeJS.Timeout | undefined;
  #graceTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: PinServiceOptions) {
    const { store, log } = options;
    this.#options = options;
    this.#graceMs = options.graceMs ?? GRACE_MS;
    this.#pins = new Pins({
      store,
      log,
      onRouteChange: (pin, cause) => this.#onRouteChange(pin, cause),
    });
    this.#reports = new ExchangeReports(options.onExchanges);
    this.#terminator = options.createTerminator({
      log,
      onLifted: (host, port, reason) => this.#lift(originOf({ host, port }), reason),
      onAddressRefused: (host, port, reason) => this.#refuseAddress(originOf({ host, port }), reason),
      onReady: (host, port) => {
        const pin = this.#pins.findActive(originOf({ host, port }));
        if (pin) this.#proxy?.closeOrigin(host, port, spaceOf(pin), 'replaced');
        options.onChange();
      },
      onDoubt: () => options.onChange(),
      onFallback: () => options.onChange(),
      onMeasured: (host, port, exchange) => this.#reports.add(originOf({ host, port }), exchange),
      isTunnelled: (host, port) => this.#proxy?.isTunnelled(host, port) ?? false,
    });
    this.#pins.restore();
    for (const pin of this.#pins.list()) {
      const local = explainLocalOrigin(pin);
      if (local) this.#refuseAddress(pin.origin, local);
      const problem = explainEveryOrigin(pin) || this.#explainObstacle(pin);
      if (problem) this.#lift(pin.origin, problem);
    }
    this.#restored = this.#pins.list().length > 0 ? this.#liftForSystemProxy() : Promise.resolve('');
  }

  /**
   * Resolves when the pin is in effect.
   *
   * @throws RequestError when the pin is not possible
   */
  async pin(pin: NewPin): Promise<void> {
    // The check runs other programs and takes longer than everything else here: after one that found no proxy, the next runs in parallel.
    const hadNone = this.#hadNoSystemProxy;
    const problem =
      explainEveryOrigin(pin) ||
      explainLocalOrigin(pin) ||
      this.#explainObstacle(pin) ||
      (hadNone ? '' : await this.#liftForSystemProxy());
    if (problem) throw new RequestError('unavailable', problem);
    this.#pins.add(pin);
    try {
      await this.#listen();
      if (pin.origin === EVERY_ORIGIN) await this.#listenOnMore();
    } catch (fault) {
      this.#pins.remove(pin.origin);
      throw new RequestError('internal', `the proxy cannot listen: ${(fault as Error).message}`);
    }
    this.#options.log(`pin ${pin.origin}: ${pin.kind}`);
    if (hadNone) void this.#liftForSystemProxy();
  }

  /** Sends the next requests to an origin with an `auto` pin under a protocol. @throws RequestError when that is not possible */
  async steer(origin: string, protocol: Protocol): Promise<void> {
    const { host, port } = authorityOf(origin);
    const problem = await this.#terminator.steer(host, port, protocol);
    if (problem) throw new RequestError('unavailable', problem);
  }

  /** @returns whether it was pinned. */
  unpin(origin: string): boolean {
    const was = this.#pins.remove(origin);
    if (was) this.#options.log(`pin ${origin}: unpinned`);
    return was;
  }

  /** @returns the origins that were pinned. */
  unpinAll(): string[] {
    const origins = this.#pins.list().map(({ origin }) => origin);
    return origins.filter((origin) => this.unpin(origin));
  }

  async readState(): Promise<PinServiceState> {
    await this.#restored;
    const port = this.#isActive() ? await this.#listen().catch(() => 0) : 0;
    const isEvery = () => this.#pins.findActive(EVERY_ORIGIN) !== null;
    const ports = isEvery() ? await this.#listenOnMore().catch(() => []) : [];
    // Read after the wait: they may have changed meanwhile.
    return {
      port: this.#isActive() ? port : 0,
      resets: this.#resets,
      caHosts: this.#terminator.listCaHosts(),
      trials: this.#terminator.listUntriedHosts(),
      trialToken: this.#terminator.trialToken,
      pins: this.#pins.list().map((pin) => this.#showWait(pin)),
      ...(isEvery() && ports.length > 0 && { everyOrigin: { ports, exceptions: [...this.#exceptions] } }),
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#graceTimer);
    clearTimeout(this.#resetsTimer);
    this.#pins.close();
    this.#reports.close();
    this.#terminator.close();
    await this.#stop();
  }

  #isActive(): boolean {
    return this.#pins.list().some(({ state }) => state === 'active');
  }

  #showWait(pin: PinState): PinState {
    if (pin.state !== 'active') return pin;
    const { kind } = pin;
    const { host, port } = authorityOf(pin.origin);
    const steered = kind === 'auto' ? this.#terminator.findProtocol(host, port) : null;
    const waitsFor = this.#findWait(pin);
    const protocol = kind === 'auto' || kind === 'avoid-h3' ? steered : kind;
    return {
      ...pin,
      ...(steered && { protocol: steered }),
      ...(waitsFor && { state: 'waiting', waitsFor, reason: explainWait(waitsFor, protocol) }),
    };
  }

  #findWait({ kind, origin }: PinState): PinWait | null {
    const { host, port } = authorityOf(origin);
    if (isAskedWithoutProxy(host) && !this.#proxied.has(host)) return 'proxy';
    return kind === 'avoid-h3' ? null : this.#terminator.findWait(host, port);
  }

  /** Why such a pin is not possible, with the fix; '' when it is. */
  #explainObstacle({ origin, kind }: Pick<NewPin, 'origin' | 'kind'>): string {
    const problem = explainUnknownUsers();
    if (problem !== '' || kind === 'avoid-h3') return problem;
    return this.#terminator.explainObstacle(authorityOf(origin).host);
  }

  /** Lifts all pins if the system has a proxy. @returns the reason with the fix; '' without a proxy. */
  async #liftForSystemProxy(): Promise<string> {
    const where = (await this.#options.systemProxy?.()) ?? '';
    this.#hadNoSystemProxy = where === '';
    if (where === '') return '';
    const problem = `browsers use a proxy here, set in ${where}, and would not use it while an origin is pinned: remove it there to pin`;
    for (const { origin, kind } of this.#pins.list()) this.#pins.lift(origin, kind, problem);
    return problem;
  }

  #listen(): Promise<number> {
    if (this.#closed) return Promise.reject(new Error('the session has ended'));
    if (this.#listening) return this.#listening;
    const proxy = new LoopbackProxy({
      route: (host, port) => this.#route(host, port),
      log: this.#options.log,
      ...(this.#options.lookup && { lookup: this.#options.lookup }),
      onAddressRefused: (host, port, reason) => this.#refuseAddress(originOf({ host, port }), reason),
      onNameUnknown: (host, port) => this.#addException(originOf({ host, port })),
      onReset: () => this.#onReset(),
    });
    const listening = proxy.listen();
    this.#proxy = proxy;
    this.#listening = listening;
    listening.catch(() => {
      if (this.#listening !== listening) return;
      this.#proxy = null;
      this.#listening = null;
    });
    return listening;
  }

  /** @throws the error of `node:net` when the proxy can listen on none */
  async #listenOnMore(): Promise<number[]> {
    await this.#listen();
    const proxy = this.#proxy;
    if (proxy === null) throw new Error('the proxy has ended');
    this.#morePorts ??= Promise.all(Array.from({ length: MAX_PROXY_PORTS }, () => proxy.listen()));
    const ports = this.#morePorts;
    ports.catch(() => {
      if (this.#morePorts === ports) this.#morePorts = null;
    });
    return ports;
  }

  async #stop(): Promise<void> {
    const proxy = this.#proxy;
    const listening = [this.#listening, this.#morePorts];
    this.#proxy = null;
    this.#listening = null;
    this.#morePorts = null;
    await Promise.allSettled(listening);
    await proxy?.close();
  }

  #route(host: string, port: number): ProxyRoute {
    const origin = originOf({ host, port });
    const pin = this.#pins.findActive(origin);
    if (pin || port === TRUST_TRIAL_PORT) this.#noteProxied(host);
    if (!pin && port === TRUST_TRIAL_PORT) return this.#terminator.routeTrial(host);
    if (!pin) return this.#routeUnpinned(host, origin);
    if (pin.kind === 'avoid-h3') return { kind: 'tunnel', from: spaceOf(pin) };
    return this.#terminator.routeConnect(host, port);
  }

  #routeUnpinned(host: string, origin: string): ProxyRoute {
    const ended = this.#findEnded(origin);
    if (ended) return { kind: 'tunnel', from: ended.from };
    if (!this.#pins.findActive(EVERY_ORIGIN) && !this.#findEnded(EVERY_ORIGIN)) return { kind: 'refuse' };
    const isException = isLocalHost(host) || this.#exceptions.has(origin);
    return isException
      ? { kind: 'refuse', isUnnamed: true }
      : { kind: 'tunnel', from: 'public', isUnnamed: true };
  }

  #findEnded(origin: string): EndedPin | undefined {
    const ended = this.#ended.get(origin);
    return ended && ended.untilMs > performance.now() ? ended : undefined;
  }

  #noteProxied(host: string): void {
    if (!isAskedWithoutProxy(host) || this.#proxied.has(host)) return;
    this.#proxied.add(host);
    this.#options.onChange();
  }

  #onRouteChange(pin: Pin, cause: RouteChangeCause): void {
    const { origin } = pin;
    if (origin === EVERY_ORIGIN) this.#exceptions.clear();
    if (cause === 'pinned') this.#ended.delete(origin);
    else this.#ended.set(origin, { untilMs: performance.now() + this.#graceMs, from: spaceOf(pin) });
    this.#release(origin, spaceOf(pin));
    if (cause !== 'pinned') this.#endGraceLater();
    if (cause === 'expired' || cause === 'lifted') this.#options.onChange();
  }

  /**
   * Ends connections over the former route, and applies the current one to new connections.
   *
   * @param from of the pin that has begun, or of the one that has ended, whose requests may come to their end
   */
  #release(origin: string, from: AddressSpace): void {
    const change = this.#pins.findActive(origin) ? 'replaced' : 'ended';
    if (origin === EVERY_ORIGIN) {
      this.#proxy?.closeOrigins(
        (host, port) => !this.#pins.findActive(originOf({ host, port })),
        from,
        change,
      );
      return;
    }
    const { host, port } = authorityOf(origin);
    const pin = this.#pins.findActive(origin);
    this.#proxy?.closeOrigin(host, port, from, change);
    if (!pin || pin.kind === 'avoid-h3') this.#terminator.unpin(host, port);
    else this.#terminator.pin(host, port, pin.kind, spaceOf(pin));
  }

  /** The browser connects directly, and checks itself which pages may reach the address. */
  #refuseAddress(origin: string, reason: string): void {
    const pin = this.#pins.findActive(origin);
    if (pin) this.#pins.lift(origin, pin.kind, reason, 'local-address');
    else this.#addException(origin);
  }

  /** The browser learns of it with the reset that follows. */
  #addException(origin: string): void {
    if (this.#pins.findActive(origin) || !this.#pins.findActive(EVERY_ORIGIN)) return;
    this.#exceptions.add(origin);
    for (const oldest of this.#exceptions) {
      if (this.#exceptions.size <= MAX_EXCEPTIONS) break;
      this.#exceptions.delete(oldest);
    }
  }

  /** Lifts pins to a protocol only: a tunnel fails only where a direct connection would fail as well. */
  #lift(origin: string, reason: string): void {
    const kind = this.#pins.findActive(origin)?.kind;
    if (kind && kind !== 'avoid-h3') this.#pins.lift(origin, kind, reason);
  }

  #endGraceLater(): void {
    clearTimeout(this.#graceTimer);
    this.#graceTimer = setTimeout(() => this.#endGrace(), this.#graceMs);
    this.#graceTimer.unref();
  }

  /** Ends connections of origins whose grace period is over; without pins, ends the proxy as soon as it is idle. */
  #endGrace(): void {
    for (const [origin, { untilMs, from }] of this.#ended) {
      if (untilMs > performance.now()) continue;
      this.#ended.delete(origin);
      this.#release(origin, from);
    }
    const unused = !this.#isActive() && (this.#proxy?.open ?? 0) === 0;
    if (this.#ended.size === 0 && unused) void this.#stop();
    else if (this.#ended.size > 0 || !this.#isActive()) this.#endGraceLater();
  }

  #onReset(): void {
    if (this.#closed) return;
    this.#resets += 1;
    this.#resetsTimer ??= setTimeout(() => {
      this.#resetsTimer = undefined;
      this.#options.onChange();
    }, RESET_NOTIFY_DELAY_MS).unref();
  }
}
