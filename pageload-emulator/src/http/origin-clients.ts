import type { Protocol, ServerProfile, UdpTreatment } from '@hopwise/contract';
import type { ConnectionSettings } from '../transport/connection.ts';
import { handshakeOf } from '../transport/handshake.ts';
import type { SimulationContext } from '../transport/simulation-context.ts';
import { AlternativeClient, type Http3Knowledge } from './alternative-client.ts';
import { H1Pool } from './h1-pool.ts';
import { HostResolver, hostOf } from './host-resolver.ts';
import { Multiplexed } from './multiplexed.ts';
import { addOriginCounters, type OriginClient, type OriginCounters } from './origin-client.ts';
import { Session, USUAL_MAX_STREAMS } from './session.ts';
import { SocketLimit } from './socket-limit.ts';

/** The browser's side of all origins of a page: what they share, and one client for each pool of connections. */
export class OriginClients {
  readonly #context: SimulationContext;
  readonly #servers: readonly ServerProfile[];
  readonly #protocols: readonly Protocol[];
  readonly #udp: UdpTreatment;
  readonly #resolver = new HostResolver();
  /** Of each origin that was asked for. */
  readonly #hosts: string[] = [];
  readonly #sockets = new SocketLimit();
  /** Of each origin, by pool. */
  readonly #clients: OriginClient[][];
  readonly #http3: Http3Knowledge[];
  /** Of each origin, whether the browser knows that its server multiplexes. */
  readonly #multiplexes: boolean[];
  readonly #quicExperience = { worked: false };
  /** Connections that several origins may use, by group, pool and protocol. */
  readonly #shared = new Map<string, Session>();

  /**
   * @param servers of each origin
   * @param protocols that each origin is to use
   */
  constructor(
    context: SimulationContext,
    servers: readonly ServerProfile[],
    protocols: readonly Protocol[],
    udp: UdpTreatment,
  ) {
    this.#context = context;
    this.#servers = servers;
    this.#protocols = protocols;
    this.#udp = udp;
    this.#clients = servers.map(() => []);
    this.#http3 = servers.map(({ h3Discovery }) => ({ known: h3Discovery !== 'alt-svc' }));
    this.#multiplexes = servers.map(
      ({ h3Discovery, session }, origin) =>
        protocols[origin] !== 'h1' && (h3Discovery === 'known' || session?.tcp !== undefined),
    );
  }

  /**
   * Whether the browser knows that an origin's server multiplexes (Chromium's `HttpServerProperties::SupportsRequestPriority`): from
   * an earlier visit, from its first HTTP/2 connection, or from the `Alt-Svc` of a response.
   */
  multiplexes(origin: number): boolean {
    return this.#multiplexes[origin]!;
  }

  /** Headers of a response have come from an origin, and with them `Alt-Svc` where it is to use HTTP/3. */
  answered(origin: number): void {
    if (this.#protocols[origin] === 'h3') this.#multiplexes[origin] = true;
  }

  /** The client of an origin for requests of one pool. */
  of(origin: number, pool: number): OriginClient {
    const clients = this.#clients[origin]!;
    const existing = clients[pool];
    if (existing !== undefined) return existing;
    const client = this.#create(origin, pool);
    clients[pool] = client;
    return client;
  }

  /** What each origin's requests went through; null for origins without any. */
  counters(): (OriginCounters | null)[] {
    return this.#clients.map((clients) => {
      const [first, ...others] = clients
        .filter((client) => client !== undefined)
        .map((client) => client.counters());
      return first === undefined ? null : others.reduce((sum, next) => addOriginCounters(sum, next), first);
    });
  }

  #create(origin: number, pool: number): OriginClient {
    const protocol = this.#protocols[origin]!;
    if (protocol !== 'h3') return this.#overTcp(origin, pool, protocol, null);
    const server = this.#servers[origin]!;
    const { h3Discovery = 'known', quicHandshake = 'open' } = server;
    const handshake = this.#udp.kind === 'blocked' ? 'silent' : quicHandshake;
    if (h3Discovery === 'known') {
      if (handshake === 'open') {
        return this.#multiplexed(origin, pool, 'h3', () => {
          this.#quicExperience.worked = true;
        });
      }
      // What the browser knew of it, it knew from a network where QUIC worked.
      this.#quicExperience.worked = true;
    }
    const tcp = server.offers.h2 ? 'h2' : 'h1';
    const refusalMs = this.#context.rttMs + server.extraRttMs;
    return new AlternativeClient(
      this.#context.events,
      {
        resolve: () => this.#resolve(origin),
        quic: (onOpen) => this.#multiplexed(origin, pool, 'h3', onOpen),
        tcp: (onOpen) => this.#overTcp(origin, pool, tcp, onOpen),
      },
      this.#http3[origin]!,
      this.#quicExperience,
      handshake,
      refusalMs,
    );
  }

  #overTcp(origin: number, pool: number, protocol: 'h1' | 'h2', onOpen: (() => void) | null): OriginClient {
    if (protocol === 'h2') {
      return this.#multiplexed(origin, pool, 'h2', () => {
        this.#multiplexes[origin] = true;
        onOpen?.();
      });
    }
    const settings = this.#settings(origin, 'h1');
    return new H1Pool(this.#context, settings, () => this.#resolve(origin), this.#sockets, onOpen);
  }

  #multiplexed(
    origin: number,
    pool: number,
    protocol: 'h2' | 'h3',
    onOpen: (() => void) | null,
  ): OriginClient {
    const { connectionGroup: group, prioritises = false, maxStreams, session } = this.#servers[origin]!;
    const key = group === undefined ? null : `${protocol} ${pool} ${group}`;
    const source = {
      resolve: () => this.#resolve(origin),
      shared: () => {
        const other = key === null ? undefined : this.#shared.get(key);
        // Whoever comes while it is being opened opens another: browsers share what is ready.
        return other?.open ? other : null;
      },
      create: (opened: () => void) => {
        const settings = {
          connection: this.#settings(origin, protocol),
          resolve: () => this.#resolve(origin),
          known: session?.tcp !== undefined,
          prioritised: prioritises,
          maxStreams: maxStreams?.[protocol] ?? USUAL_MAX_STREAMS,
        };
        const sockets = protocol === 'h2' ? this.#sockets : null;
        const created = new Session(this.#context, settings, sockets, opened);
        if (key !== null && !this.#shared.has(key)) this.#shared.set(key, created);
        return created;
      },
    };
    return new Multiplexed(this.#context.events, source, key !== null, onOpen);
  }

  #resolve(origin: number): number {
    const server = this.#servers[origin]!;
    this.#hosts[origin] ??= hostOf(server.origin);
    return this.#resolver.resolve(this.#hosts[origin], server.dnsMs ?? 0, this.#context.events.now);
  }

  #settings(origin: number, protocol: Protocol): ConnectionSettings {
    const server = this.#servers[origin]!;
    const transport = protocol === 'h3' ? 'quic' : 'tcp';
    const secure = !server.origin.startsWith('http:');
    const { rounds, requestsAfter } = handshakeOf(protocol, secure ? server.tlsVersion : null, {
      session: server.session?.[transport],
      falseStart: server.falseStart,
      extraRounds: server.extraHandshakeRounds?.[transport],
    });
    return {
      transport,
      handshake: rounds,
      requestsAfter,
      initialWindow: server[transport].initialWindow,
      congestionControl: server[transport].congestionControl,
      startBps: server[transport].startBps,
      extraRttMs: server.extraRttMs,
      orderedBy: protocol === 'h3' ? 'stream' : 'connection',
    };
  }
}
