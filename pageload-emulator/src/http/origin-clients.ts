import type { Protocol, ServerProfile, UdpTreatment } from '@hopwise/contract';
import { partitionOf } from '../graph/connection-pools.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import type { ConnectionSettings } from '../transport/connection.ts';
import { handshakeOf, OPENED } from '../transport/handshake.ts';
import type { SimulationContext } from '../transport/simulation-context.ts';
import { AlternativeClient, type Http3Knowledge } from './alternative-client.ts';
import { H1Pool } from './h1-pool.ts';
import { HostResolver, hostOf } from './host-resolver.ts';
import { Multiplexed } from './multiplexed.ts';
import { addOriginCounters, type OriginClient, type OriginCounters } from './origin-client.ts';
import { Session, USUAL_MAX_STREAMS } from './session.ts';
import { SocketLimit } from './socket-limit.ts';

type BrowserState = Pick<PageGraph, 'openConnections' | 'opensAnnouncedH3'>;

/** The browser's connections to all origins of a page: what the origins share, and one client for each pool of connections. */
export class OriginClients {
  readonly #context: SimulationContext;
  readonly #servers: readonly ServerProfile[];
  readonly #protocols: readonly Protocol[];
  readonly #udp: UdpTreatment;
  readonly #resolver = new HostResolver();
  /** Host of each origin whose name was looked up. */
  readonly #hosts: string[] = [];
  readonly #sockets = new SocketLimit();
  /** Clients of each origin, by pool. */
  readonly #clients: OriginClient[][];
  /** What the browser knows of HTTP/3, by origin and partition of the network state. */
  readonly #http3: Http3Knowledge[][];
  /** Whether each origin's server is known to multiplex. */
  readonly #multiplexes: boolean[];
  readonly #quicExperience = { worked: false };
  /** Connections that are open when their first requests come, as `origin pool`. */
  readonly #open: ReadonlySet<string>;
  readonly #opensAnnouncedH3: boolean;
  /** Connections that several origins may share, by group, pool and protocol. */
  readonly #shared = new Map<string, Session>();

  /**
   * @param servers profile of each origin
   * @param protocols protocol of each origin
   * @param graph how the page's browser opens connections, and which are open when their first requests come
   */
  constructor(
    context: SimulationContext,
    servers: readonly ServerProfile[],
    protocols: readonly Protocol[],
    udp: UdpTreatment,
    { openConnections: open = [], opensAnnouncedH3 = false }: BrowserState,
  ) {
    this.#context = context;
    this.#servers = servers;
    this.#protocols = protocols;
    this.#udp = udp;
    this.#open = new Set(open.map(({ origin, pool }) => `${origin} ${pool}`));
    this.#opensAnnouncedH3 = opensAnnouncedH3;
    const isMet = new Set(open.map(({ origin }) => origin));
    this.#clients = servers.map(() => []);
    this.#http3 = servers.map(() => []);
    this.#multiplexes = servers.map(
      ({ h3Discovery, session }, origin) =>
        protocols[origin] !== 'h1' &&
        (h3Discovery === 'known' || session?.tcp !== undefined || isMet.has(origin)),
    );
  }

  /**
   * Whether an origin's server is known to multiplex (Chromium's `HttpServerProperties::SupportsRequestPriority`): from an
   * earlier visit, from its first HTTP/2 connection, or from the `Alt-Svc` of a response.
   */
  multiplexes(origin: number): boolean {
    return this.#multiplexes[origin]!;
  }

  /** Must be called when a response's headers arrive: their `Alt-Svc` shows that the server multiplexes. */
  answered(origin: number): void {
    if (this.#protocols[origin] === 'h3' && this.#servers[origin]!.announcesH3 !== false)
      this.#multiplexes[origin] = true;
  }

  /** Returns the client of an origin for the requests of one pool. */
  of(origin: number, pool: number): OriginClient {
    const clients = this.#clients[origin]!;
    const existing = clients[pool];
    if (existing !== undefined) return existing;
    const client = this.#create(origin, pool);
    clients[pool] = client;
    return client;
  }

  /** Returns the counters of each origin; null for origins without requests. */
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
        return this.#multiplexed(origin, pool, 'h3', this.#isOpen(origin, pool), () => {
          this.#quicExperience.worked = true;
        });
      }
      // The browser learned of the origin's HTTP/3 on a network where QUIC worked.
      this.#quicExperience.worked = true;
    }
    const tcp = server.offers.h2 ? 'h2' : 'h1';
    const refusalMs = this.#context.path.rttMs + server.extraRttMs;
    return new AlternativeClient(
      this.#context.events,
      {
        resolve: () => this.#resolve(origin),
        quic: (onOpen) => this.#multiplexed(origin, pool, 'h3', false, onOpen),
        tcp: (onOpen) => this.#overTcp(origin, pool, tcp, onOpen),
      },
      this.#knowledgeOf(origin, pool),
      this.#quicExperience,
      handshake,
      refusalMs,
      this.#opensAnnouncedH3,
    );
  }

  /** Pools of one partition share what is known of a server. */
  #knowledgeOf(origin: number, pool: number): Http3Knowledge {
    const known = this.#servers[origin]!.h3Discovery !== 'alt-svc';
    const byPartition = this.#http3[origin]!;
    const partition = partitionOf(pool);
    byPartition[partition] ??= { known };
    return byPartition[partition];
  }

  #overTcp(origin: number, pool: number, protocol: 'h1' | 'h2', onOpen: (() => void) | null): OriginClient {
    const isOpen = this.#isOpen(origin, pool);
    if (protocol === 'h2') {
      return this.#multiplexed(origin, pool, 'h2', isOpen, () => {
        this.#multiplexes[origin] = true;
        onOpen?.();
      });
    }
    const settings = this.#settings(origin, 'h1', isOpen);
    const resolve = () => (isOpen ? 0 : this.#resolve(origin));
    return new H1Pool(this.#context, settings, resolve, this.#sockets, onOpen);
  }

  #isOpen(origin: number, pool: number): boolean {
    return this.#open.has(`${origin} ${pool}`);
  }

  #multiplexed(
    origin: number,
    pool: number,
    protocol: 'h2' | 'h3',
    isOpen: boolean,
    onOpen: (() => void) | null,
  ): OriginClient {
    const { connectionGroup: group, prioritises = false, maxStreams, session } = this.#servers[origin]!;
    const key = group === undefined ? null : `${protocol} ${pool} ${group}`;
    const resolve = () => (isOpen ? 0 : this.#resolve(origin));
    const source = {
      resolve,
      shared: () => {
        const other = key === null ? undefined : this.#shared.get(key);
        // Browsers share open connections only: while one is being opened, another origin opens its own.
        return other?.open ? other : null;
      },
      create: (opened: () => void) => {
        const settings = {
          connection: this.#settings(origin, protocol, isOpen),
          resolve,
          known: session?.tcp !== undefined || isOpen,
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
    const lookupMs = (server.dnsMs ?? 0) + (server.openingDelayMs ?? 0);
    return this.#resolver.resolve(this.#hosts[origin], lookupMs, this.#context.events.now);
  }

  #settings(origin: number, protocol: Protocol, isOpen: boolean): ConnectionSettings {
    const server = this.#servers[origin]!;
    const transport = protocol === 'h3' ? 'quic' : 'tcp';
    const secure = !server.origin.startsWith('http:');
    const { rounds, requestsAfter } = isOpen
      ? OPENED
      : handshakeOf(protocol, secure ? server.tlsVersion : null, {
          session: server.session?.[transport],
          falseStart: server.falseStart,
          extraRounds: server.extraHandshakeRounds?.[transport],
          tcpEndsNearby: server.tcpEndsNearby,
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
