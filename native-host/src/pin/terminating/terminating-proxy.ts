/**
 * The proxy of pins to a protocol: the browser's TLS ends here, requests go on to their origin under the pinned protocol. It
 * fails open: only an origin that is known to be good is terminated, any other gets a tunnel.
 */
import type { Protocol } from '@hopwise/native-host/messages';
import type { LeafIssuer } from '../../ca/leaf-issuer.ts';
import type { Engine } from '../../engine/engine.ts';
import type { ExchangeError } from '../../engine/exchange.ts';
import type { ExchangeErrorCode } from '../../engine/exchange-fault.ts';
import { PROTOCOL_NAME } from '../../protocol.ts';
import type { Route } from '../proxy/loopback-proxy.ts';
import type { Terminator, TerminatorHooks } from '../terminator.ts';
import { type RelayEvents, SUSPECT_AFTER_MS } from './relay.ts';
import { TerminatedOrigin } from './terminated-origin.ts';
import { UpstreamHealth } from './upstream-health.ts';

export interface TerminatingProxyOptions extends TerminatorHooks {
  engine: Pick<Engine, 'exchange'>;
  issuer: LeafIssuer;
  /** The limit on one check of an origin. */
  checkLimitMs?: number;
}

/** An attempt that ended so says that the next one under this protocol will. */
const LIFTING = new Set<ExchangeErrorCode>(['certificate', 'protocol', 'engine-died']);
/** It may be the protocol, the origin or the network. */
const DOUBTFUL = new Set<ExchangeErrorCode>(['connect', 'timeout']);

/** Hosts are as in `URL.hostname`. */
export class TerminatingProxy implements Terminator {
  readonly #options: TerminatingProxyOptions;
  readonly #health: UpstreamHealth;
  readonly #origins = new Map<string, TerminatedOrigin>();
  /** Origins that are pinned no more, until their last connection has ended. */
  readonly #ending = new Set<TerminatedOrigin>();

  constructor(options: TerminatingProxyOptions) {
    this.#options = options;
    this.#health = new UpstreamHealth(options);
  }

  /** Connections of the browser that end here. */
  get open(): number {
    return [...this.#origins.values(), ...this.#ending].reduce((sum, { open }) => sum + open, 0);
  }

  problem(host: string): string {
    return this.#options.issuer.contextFor(host)
      ? ''
      : `no local CA vouches for ${host}: hopwise-host ca create`;
  }

  /** Pins an origin, or pins it otherwise: requests of open connections are under the new protocol at once. */
  pin(host: string, port: number, protocol: Protocol): void {
    const key = `${host}:${port}`;
    let origin = this.#origins.get(key);
    if (!origin) {
      origin = this.#newOrigin(host, port, protocol);
      this.#origins.set(key, origin);
    }
    origin.protocol = protocol;
    this.#checkWhenDue(origin);
  }

  /** Connections end as soon as nothing is under way on them. */
  unpin(host: string, port: number): void {
    const key = `${host}:${port}`;
    const origin = this.#origins.get(key);
    if (!origin) return;
    this.#origins.delete(key);
    this.#health.forget(origin.origin);
    origin.closeInOrder();
    for (const former of this.#ending) if (former.open === 0) this.#ending.delete(former);
    if (origin.open > 0) this.#ending.add(origin);
  }

  /** The way of a CONNECT. */
  route(host: string, port: number): Route {
    const origin = this.#origins.get(`${host}:${port}`);
    if (!origin) return { kind: 'tunnel' };
    const problem = this.problem(host);
    if (problem) {
      this.#lift(origin, problem);
      return { kind: 'tunnel' };
    }
    this.#checkWhenDue(origin);
    if (!this.#health.isGood(origin.origin, origin.protocol)) return { kind: 'tunnel' };
    return { kind: 'terminate', accept: (socket) => origin.accept(socket) };
  }

  /** Ends all connections at once. */
  close(): void {
    for (const origin of [...this.#origins.values(), ...this.#ending]) origin.destroy();
    this.#origins.clear();
    this.#ending.clear();
  }

  #newOrigin(host: string, port: number, protocol: Protocol): TerminatedOrigin {
    const { engine, issuer, log } = this.#options;
    const events: RelayEvents = {
      answered: (answering, pinned) => {
        if (answering === pinned) this.#health.good(origin.origin, pinned);
        else if (pinned === origin.protocol) this.#lift(origin, this.#without(pinned));
      },
      failed: (pinned, fault) => {
        if (pinned === origin.protocol) this.#failed(origin, fault);
      },
      suspect: (pinned) => {
        if (pinned !== origin.protocol) return;
        if (!this.#health.isGood(origin.origin, pinned, SUSPECT_AFTER_MS)) void this.#check(origin);
      },
      unpassable: (pinned, reason) => {
        if (pinned === origin.protocol) this.#lift(origin, `a response cannot be passed on: ${reason}`);
      },
    };
    const origin = new TerminatedOrigin({ host, port, protocol, engine, issuer, log, events });
    return origin;
  }

  #failed(origin: TerminatedOrigin, { code, message }: ExchangeError): void {
    if (LIFTING.has(code)) this.#lift(origin, message);
    else if (DOUBTFUL.has(code)) {
      this.#health.doubt(origin.origin, origin.protocol);
      origin.closeInOrder();
      void this.#check(origin);
    }
  }

  #checkWhenDue(origin: TerminatedOrigin): void {
    if (this.#health.isDue(origin.origin, origin.protocol)) void this.#check(origin);
  }

  async #check(origin: TerminatedOrigin): Promise<void> {
    const { protocol, host, port } = origin;
    const wasGood = this.#health.isGood(origin.origin, protocol);
    const trouble = await this.#health.check(origin.origin, protocol);
    if (this.#origins.get(`${host}:${port}`) !== origin || origin.protocol !== protocol) return;
    if (!trouble) {
      if (!wasGood) this.#options.onReady(host, port);
    } else if (trouble.kind === 'unusable') {
      this.#lift(origin, trouble.reason);
      origin.moveOn(protocol, trouble.reason);
    } else this.#options.log(`pin: ${origin.origin} cannot be reached: ${trouble.reason}`);
  }

  #without(protocol: Protocol): string {
    return `the origin answers, but not over ${PROTOCOL_NAME[protocol]}`;
  }

  #lift(origin: TerminatedOrigin, reason: string): void {
    const { host, port } = origin;
    if (this.#origins.get(`${host}:${port}`) !== origin) return;
    this.#options.log(`pin: ${origin.origin} is pinned no more: ${reason}`);
    this.unpin(host, port);
    this.#options.onLifted(host, port, reason);
  }
}
