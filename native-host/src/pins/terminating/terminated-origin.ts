/** One pinned origin: the browser's terminated connections and their requests. */
import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http';
import { performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer, type SecureContext, type TLSSocket } from 'node:tls';
import type { AddressSpace, Protocol } from '@hopwise/contract';
import type { Engine } from '../../engine/engine.ts';
import type { Exchange, ExchangeRequest } from '../../exchange/exchange.ts';
import { valuesOf } from '../../exchange/headers.ts';
import type { BrowserRequest } from './browser-request.ts';
import { isDistrust } from './browser-trust.ts';
import { Http1Request } from './http1-request.ts';
import { Http2Request } from './http2-request.ts';
import { Relay, type RelayEvents, type Upstream } from './relay.ts';
import { endUnlessAnswered } from './session-pings.ts';
import { passUpgrade } from './upgraded-connection.ts';
import { UNREACHABLE_FOR_MS } from './upstream-health.ts';

/**
 * Streams of one connection, as many as most origins allow: further requests wait in the browser, which knows their priority.
 */
const STREAMS_PER_CONNECTION = 100;
/** Chromium's limit on heads in either direction; servers' limits are far lower. */
const HEAD_BYTES = 256 * 1024;
/** Fields that fit into a head, of 32 bytes each at least (RFC 9113 section 6.5.2): cookies are sent one by one. Node's default is 128. */
const HEAD_FIELDS = HEAD_BYTES / 32;
/** 100 streams that the browser does not read exceed Node's default of 10 MB. */
const SESSION_MEMORY_MB = 64;
/** Chromium closes a used connection after 5 minutes. The client has to close first, or requests may be lost. */
const KEEP_ALIVE_MS = 6 * 60_000;
/** On loopback, with a browser at the other end. */
const HANDSHAKE_TIMEOUT_MS = 10_000;

/** RFC 9110 sections 9.3.6 and 9.3.8: not forwarded. Browsers send neither to an origin. */
const UNIMPLEMENTED = new Set(['CONNECT', 'TRACE']);

interface TerminatedOriginOptions {
  /** In the form of `URL.hostname`. */
  host: string;
  port: number;
  protocol: Protocol;
  /** Whether the protocol of its next requests is chosen as it goes, by what exchanges show. */
  isAuto: boolean;
  /** Bounds the addresses that its requests may be sent to. */
  from: AddressSpace;
  engine: Pick<Engine, 'exchange' | 'release'>;
  log: (line: string) => void;
  events: RelayEvents;
  /** The browser rejected the local CA's certificate. */
  onDistrusted: () => void;
  /** Interval of HTTP/2 PINGs to browsers. */
  pingEveryMs?: number | undefined;
}

/** A connection of the browser's. */
interface Connection {
  socket: TLSSocket;
  /** See `ExchangeRequest`: a browser uses a connection for pages of one site only, and so does the proxy to the origin. */
  partition: string;
  /** Accepts no further request, and ends when those in progress have ended. */
  closeInOrder: () => void;
  /** Ends an upgraded connection, which has one to the origin of its own, once it is idle. */
  endUpgrade?: () => void;
}

/** Connections of browsers so far. */
let connected = 0;

export class TerminatedOrigin {
  readonly host: string;
  readonly port: number;
  /** The protocol of new requests. */
  protocol: Protocol;
  isAuto: boolean;
  /** Protocols that did not work under an `auto` pin, each with the key of the network on which that was. */
  readonly refused = new Map<Protocol, string | null>();
  /** Protocols under which nothing came back any more, in the same form. */
  readonly rested = new Map<Protocol, string | null>();
  from: AddressSpace;
  readonly events: RelayEvents;
  /** That of the last request; '' before any. */
  partition = '';
  /** Whether its next connection is terminated, as last reported. */
  isReady = false;
  /** The next check by time; undefined for none. */
  nextCheck: NodeJS.Timeout | undefined;
  /** How long after a check that fails the next one follows by time, milliseconds. */
  checkAgainMs = UNREACHABLE_FOR_MS;
  readonly #options: TerminatedOriginOptions;
  readonly #authority: string;
  /** Context of the newest connection: it existed when its CONNECT was answered, and so exists for its handshake. */
  #context: SecureContext | null = null;
  readonly #tls: ReturnType<typeof createTlsServer>;
  readonly #http1: Server;
  readonly #connections = new Map<Duplex, Connection>();
  readonly #relays = new Set<Relay>();
  /** Number of requests in progress, by HTTP/1.1 connection. */
  readonly #busy = new Map<Duplex, number>();
  readonly #closing = new Set<Duplex>();

  constructor(options: TerminatedOriginOptions) {
    this.#options = options;
    this.host = options.host;
    this.port = options.port;
    this.protocol = options.protocol;
    this.isAuto = options.isAuto;
    this.from = options.from;
    this.events = options.events;
    // The origin's authority in requests (RFC 9110 section 4.2.3).
    this.#authority = new URL(this.origin).host;
    this.#tls = this.#tlsServer();
    this.#http1 = this.#http1Server();
  }

  /** In the form of URLs. */
  get origin(): string {
    return `https://${this.host}:${this.port}`;
  }

  get open(): number {
    return this.#connections.size;
  }

  /** Takes over a connection before its first byte. */
  accept(socket: Duplex, context: SecureContext): void {
    this.#context = context;
    socket.on('error', () => {});
    this.#tls.emit('connection', socket);
  }

  /** Ends all connections once their requests in progress have ended; what has not ended in time is cut. Upgraded ones go on. */
  closeInOrder(limitMs: number): void {
    const closing = [...this.#connections.values()].filter(({ endUpgrade }) => !endUpgrade);
    for (const { closeInOrder } of closing) closeInOrder();
    cutLater(closing, limitMs);
  }

  /** The same when its pin has ended: upgraded ones end as well. */
  end(limitMs: number): void {
    this.closeInOrder(limitMs);
    const upgraded = [...this.#connections.values()].filter(({ endUpgrade }) => endUpgrade);
    for (const { endUpgrade } of upgraded) endUpgrade?.();
    cutLater(upgraded, limitMs);
  }

  /** Has requests that wait under a protocol which no longer works attempted under another one, where they may be repeated. */
  useNextProtocol(protocol: Protocol, message: string): void {
    for (const relay of [...this.#relays]) relay.useNextProtocol(protocol, message);
  }

  destroy(): void {
    for (const { socket } of this.#connections.values()) socket.destroy();
  }

  #exchange(request: Omit<ExchangeRequest, 'url'>, target: string, partition: string): Exchange {
    return this.#options.engine.exchange({
      ...request,
      partition,
      from: this.from,
      url: `https://${this.#authority}${target}`,
    });
  }

  #tlsServer(): ReturnType<typeof createTlsServer> {
    const { log, host, onDistrusted } = this.#options;
    return createTlsServer({
      ALPNProtocols: ['h2', 'http/1.1'],
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      minVersion: 'TLSv1.2',
      // Without a name, or for another one, there is no certificate, and the handshake fails.
      SNICallback: (name, done) => {
        if (name === host && this.#context) done(null, this.#context);
        else done(new Error('not the pinned host'));
      },
    })
      .on('tlsClientError', (fault, socket) => {
        log(`pin: TLS with the browser for ${host}: ${fault.message}`);
        socket.destroy();
        if (isDistrust(fault)) onDistrusted();
      })
      .on('secureConnection', (socket) => this.#connect(socket));
  }

  #connect(socket: TLSSocket): void {
    socket.on('error', () => {});
    socket.setNoDelay(true);
    socket.once('close', () => {
      this.#connections.delete(socket);
      this.#busy.delete(socket);
      this.#closing.delete(socket);
      // No other connection has this partition. A page can open ever new ones, by frames of opaque origins.
      this.#options.engine.release(`https://${this.#authority}`, partition);
    });
    const partition = String(++connected);
    this.partition = partition;
    if (socket.alpnProtocol === 'h2') this.#connectHttp2(socket, partition);
    else {
      this.#connections.set(socket, { socket, partition, closeInOrder: () => this.#closeHttp1(socket) });
      this.#http1.emit('connection', socket);
    }
  }

  #connectHttp2(socket: TLSSocket, partition: string): void {
    const session: ServerHttp2Session = performServerHandshake(socket, {
      maxSessionMemory: SESSION_MEMORY_MB,
      // Origins repeat fields of any name.
      strictSingleValueFields: false,
      maxHeaderListPairs: HEAD_FIELDS,
      // Node's default of 64 KiB is less than browsers accept.
      maxSendHeaderBlockLength: HEAD_BYTES,
      settings: { maxConcurrentStreams: STREAMS_PER_CONNECTION, maxHeaderListSize: HEAD_BYTES },
    });
    this.#connections.set(socket, { socket, partition, closeInOrder: () => session.close() });
    session
      .on('error', () => {})
      .on('stream', (stream: ServerHttp2Stream, _headers, _flags, raw: string[]) =>
        this.#take(new Http2Request(stream, raw), partition),
      );
    endUnlessAnswered(session, socket, this.#options.pingEveryMs);
  }

  #http1Server(): Server {
    const server = createHttpServer({
      maxHeaderSize: HEAD_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // An upload has no time limit.
      requestTimeout: 0,
      headersTimeout: 0,
    });
    // Limited by the size of a head. Node would drop all fields after the 2,000th, even a length or a host.
    server.maxHeadersCount = 0;
    server.on('request', (request, response) => {
      const { socket } = request;
      // It was sent before the browser saw this connection's end: the browser repeats it, whatever its method, so it must not be forwarded.
      if (socket.writableEnded) {
        socket.destroy();
        return;
      }
      this.#busy.set(socket, (this.#busy.get(socket) ?? 0) + 1);
      if (this.#closing.has(socket)) response.shouldKeepAlive = false;
      response.once('close', () => {
        const left = (this.#busy.get(socket) ?? 1) - 1;
        this.#busy.set(socket, left);
        if (left === 0 && this.#closing.has(socket)) socket.end();
      });
      this.#take(new Http1Request(request, response), this.#connections.get(socket)?.partition ?? '');
    });
    server.on('upgrade', (request: IncomingMessage, socket, head) => {
      const connection = this.#connections.get(socket);
      const ending = new AbortController();
      if (connection) connection.endUpgrade = () => ending.abort();
      if (!this.#isOurs(request.headers.host ?? '')) socket.destroy();
      else {
        const pinned = this.protocol;
        void passUpgrade(request, socket, head, this, ending.signal, (fault) => {
          if (fault.code === 'certificate' || fault.code === 'local-address')
            this.events.onFailed(pinned, fault);
        });
      }
    });
    server.on('clientError', (_fault, socket) => socket.destroy());
    return server;
  }

  #closeHttp1(socket: TLSSocket): void {
    this.#closing.add(socket);
    if ((this.#busy.get(socket) ?? 0) === 0) socket.end();
  }

  #take(request: BrowserRequest, partition: string): void {
    this.partition = partition;
    const status = this.#statusOf(request);
    if (status === 0) {
      const relay = new Relay(request, this.#upstreamOf(partition), this.protocol);
      this.#relays.add(relay);
      relay.start();
      return;
    }
    request.answer(status, [['content-length', '0']], null);
  }

  #upstreamOf(partition: string): Upstream {
    return {
      partition,
      events: this.events,
      isMeasured: this.isAuto,
      exchange: (request, target) => this.#exchange(request, target, partition),
      removeRelay: (relay) => this.#relays.delete(relay),
    };
  }

  /** The status of a request that is answered here; 0 for one to forward. */
  #statusOf({ method, authority, target, headers }: BrowserRequest): number {
    if (UNIMPLEMENTED.has(method)) return 501;
    // RFC 9112 section 6.1: a body in any other coding cannot be forwarded unchanged.
    if (valuesOf(headers, 'transfer-encoding').some((coding) => coding.toLowerCase() !== 'chunked'))
      return 501;
    // RFC 9110 section 15.5.20.
    if (!this.#isOurs(authority)) return 421;
    return target.startsWith('/') ? 0 : 400;
  }

  #isOurs(authority: string): boolean {
    const named = authority.toLowerCase();
    return named === this.#authority || named === `${this.host}:${this.port}`;
  }
}

function cutLater(connections: readonly Connection[], limitMs: number): void {
  if (connections.length === 0) return;
  setTimeout(() => {
    for (const { socket } of connections) socket.destroy();
  }, limitMs).unref();
}
