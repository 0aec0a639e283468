/**
 * The proxy that browsers reach pinned origins through. It listens on the loopback address only, knows no method but
 * CONNECT, and answers nobody who does not know the session's secret with more than a request for it.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { addressSpace } from '@hopwise/contract';
import { AddressCache, type Lookup } from './address-cache.ts';
import { parseAuthority, withoutBrackets } from './authority.ts';
import { connectToFirst } from './happy-eyeballs.ts';
import { ProxyAuthorization } from './proxy-authorization.ts';
import { reset } from './reset.ts';
import { HALF_CLOSED_TIMEOUT_MS, IDLE_TIMEOUT_MS, Tunnel } from './tunnel.ts';
import { UnauthenticatedConnections } from './unauthenticated-connections.ts';

/** Hosts are as in `URL.hostname`: an IPv6 address is in brackets. */
export type Route =
  | { kind: 'tunnel' }
  | { kind: 'terminate'; accept(socket: Duplex, host: string, port: number): void }
  | { kind: 'refuse' };

export interface ProxyLimits {
  /** The limit on the head of a CONNECT; browsers' have less than 1 KiB. */
  headBytes: number;
  /** From the opening of a connection to its CONNECT with the secret; on loopback that takes a millisecond. */
  headTimeoutMs: number;
  /** Connections that have not shown the secret. */
  unauthenticated: number;
  /** Connections that have; browsers open 32 a proxy, and some more for WebSockets. */
  open: number;
  /** For name and address together. Browsers give a proxy 30 s, then show an error instead of trying without it. */
  connectTimeoutMs: number;
  idleTimeoutMs: number;
  halfClosedTimeoutMs: number;
}

const LIMITS: ProxyLimits = {
  headBytes: 8 * 1024,
  headTimeoutMs: 10_000,
  unauthenticated: 256,
  open: 12_000,
  connectTimeoutMs: 20_000,
  idleTimeoutMs: IDLE_TIMEOUT_MS,
  halfClosedTimeoutMs: HALF_CLOSED_TIMEOUT_MS,
};

export interface LoopbackProxyOptions {
  /** The password of the Basic scheme that every CONNECT must carry. */
  secret: string;
  route(host: string, port: number): Route;
  log(line: string): void;
  /**
   * Told of every CONNECT with the secret that was reset. Chromium then tries without the proxy; where that succeeds, it uses
   * the proxy for no origin any more until its settings are made anew.
   */
  onReset?(host: string, port: number): void;
  limits?: Partial<ProxyLimits>;
  /** Instead of the system's resolver. */
  lookup?: Lookup;
}

const LOOPBACK = '127.0.0.1';
/** As Chromium has it for its own connections; the browser's reach this proxy only. */
const KEEP_ALIVE_MS = 45_000;

const ESTABLISHED = 'HTTP/1.1 200 Connection Established\r\n\r\n';
const AUTHENTICATE = [
  'HTTP/1.1 407 Proxy Authentication Required',
  'Proxy-Authenticate: Basic realm="hopwise", charset="UTF-8"',
  'Content-Length: 0',
  'Connection: close',
  '\r\n',
].join('\r\n');

/** The mode of the origin changed while its CONNECT waited for a connection. */
const REROUTED = new Error('routed anew');

/** One CONNECT that showed the secret, from then until its socket is closed. */
interface Passage {
  socket: Socket;
  host: string;
  port: number;
  /** Aborts the connecting; null when that is over. */
  connecting: AbortController | null;
  tunnel: Tunnel | null;
}

export class LoopbackProxy {
  readonly #options: LoopbackProxyOptions;
  readonly #limits: ProxyLimits;
  readonly #authorization: ProxyAuthorization;
  readonly #addresses: AddressCache;
  readonly #unauthenticated: UnauthenticatedConnections;
  readonly #passages = new Set<Passage>();
  readonly #server: Server;
  #port = 0;

  constructor(options: LoopbackProxyOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#authorization = new ProxyAuthorization(options.secret);
    this.#addresses = new AddressCache(options.lookup);
    this.#unauthenticated = new UnauthenticatedConnections(
      this.#limits.unauthenticated,
      this.#limits.headTimeoutMs,
    );
    // The waiting room has the limit of time. Node would answer a request without Host.
    this.#server = createServer({
      maxHeaderSize: this.#limits.headBytes,
      headersTimeout: 0,
      requestTimeout: 0,
      requireHostHeader: false,
    });
    const drop = ({ socket }: IncomingMessage): void => void socket.destroy();
    this.#server
      .on('connection', (socket) => {
        socket.on('error', () => {});
        this.#unauthenticated.add(socket);
      })
      .on('request', drop)
      .on('checkContinue', drop)
      .on('checkExpectation', drop)
      .on('clientError', (_fault, socket) => socket.destroy())
      .on('connect', (request, socket, head) => this.#onConnect(request, socket as Socket, head));
  }

  /** Connections that showed the secret. */
  get open(): number {
    return this.#passages.size;
  }

  /** @returns the port. */
  listen(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, LOOPBACK, () => {
        this.#server.off('error', reject);
        // Running out of descriptors, for one: the connection is lost, not the proxy.
        this.#server.on('error', (fault) => this.#options.log(`pin proxy: ${fault.message}`));
        this.#port = (this.#server.address() as AddressInfo).port;
        resolve(this.#port);
      });
    });
  }

  /**
   * For an origin whose route changed: its tunnels end as soon as they are idle, and what still waits for a connection is
   * routed anew. Terminated connections are left to those who accepted them, who know what is under way on them.
   */
  closeOrigin(host: string, port: number): void {
    for (const passage of this.#passages) {
      if (passage.host !== host || passage.port !== port) continue;
      passage.connecting?.abort(REROUTED);
      passage.tunnel?.endWhenIdle();
    }
  }

  /** Stops listening and closes every connection. What waits for one is reset, so that the browser goes without the proxy. */
  async close(): Promise<void> {
    const closed = [...this.#passages].map(
      ({ socket }) => new Promise<void>((resolve) => socket.once('close', resolve)),
    );
    closed.push(new Promise((resolve) => this.#server.close(() => resolve())));
    this.#unauthenticated.clear();
    for (const { socket, connecting, tunnel } of this.#passages) {
      if (connecting) connecting.abort(new Error('the proxy is closed'));
      else if (tunnel) tunnel.destroy();
      else socket.destroy();
    }
    await Promise.all(closed);
  }

  #onConnect(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const authority = isPlainConnect(request) ? parseAuthority(request.url ?? '') : null;
    // The parser goes on to what came with a request that has been dropped.
    if (!authority || socket.destroyed) {
      socket.destroy();
      return;
    }
    if (!this.#authorization.accepts(request.headersDistinct['proxy-authorization'])) {
      // Read on, or bytes under way would make the end a reset. The waiting room's timer sees to those who stay.
      socket.resume().end(AUTHENTICATE);
      return;
    }
    this.#unauthenticated.remove(socket);
    if (this.#passages.size >= this.#limits.open) {
      this.#options.log(`pin proxy: more than ${this.#limits.open} connections`);
      reset(socket);
      return;
    }
    const passage: Passage = { socket, ...authority, connecting: null, tunnel: null };
    this.#passages.add(passage);
    socket.once('close', () => {
      this.#passages.delete(passage);
      passage.connecting?.abort(new Error('the browser closed the connection'));
    });
    if (head.length > 0) socket.unshift(head);
    void this.#pass(passage);
  }

  async #pass(passage: Passage): Promise<void> {
    const { socket, host, port } = passage;
    try {
      const route = this.#options.route(host, port);
      if (route.kind === 'refuse') throw new Error('it is not pinned');
      if (route.kind === 'terminate') {
        socket.write(ESTABLISHED);
        route.accept(socket, host, port);
        return;
      }
      const origin = await this.#connect(passage);
      if (socket.destroyed) {
        origin.destroy();
        return;
      }
      // Not before: an answer on trust would save the 0.1 ms of a loopback round trip, and leave the browser with a broken
      // connection where the origin cannot be reached.
      socket.write(ESTABLISHED);
      const { idleTimeoutMs: idleMs, halfClosedTimeoutMs: halfClosedMs } = this.#limits;
      passage.tunnel = new Tunnel(socket, origin, { idleMs, halfClosedMs });
    } catch (fault) {
      if (socket.destroyed) return;
      if (fault === REROUTED) return this.#pass(passage);
      this.#options.log(`pin proxy: no way to ${host}:${port}: ${(fault as Error).message}`);
      // After a reset Chromium tries without the proxy: it loads the page or shows its own error. After an orderly end or
      // an answer of 4xx or 5xx it shows an error of the proxy.
      reset(socket);
      this.#options.onReset?.(host, port);
    }
  }

  async #connect(passage: Passage): Promise<Socket> {
    const host = withoutBrackets(passage.host);
    const { port } = passage;
    const connecting = new AbortController();
    passage.connecting = connecting;
    const timer = setTimeout(() => {
      connecting.abort(new Error(`no connection within ${this.#limits.connectTimeoutMs} ms`));
    }, this.#limits.connectTimeoutMs);
    try {
      const addresses = await unlessAborted(this.#addresses.addresses(host), connecting.signal);
      const others = addresses.filter(({ address }) => !this.#isOwn(address, port));
      const dial = ({ address }: { address: string }): Socket =>
        connect({
          host: address,
          port,
          allowHalfOpen: true,
          noDelay: true,
          keepAlive: true,
          keepAliveInitialDelay: KEEP_ALIVE_MS,
        });
      return await connectToFirst(others, dial, connecting.signal);
    } catch (fault) {
      this.#addresses.forget(host);
      throw fault;
    } finally {
      clearTimeout(timer);
      passage.connecting = null;
    }
  }

  /** Whether a connection would lead back here. */
  #isOwn(address: string, port: number): boolean {
    return port === this.#port && addressSpace(address) === 'loopback';
  }
}

/** A CONNECT has no content (RFC 9110, section 9.3.6), and over HTTP/1.1 one Host (RFC 9112, section 3.2). */
function isPlainConnect({ headersDistinct: fields, httpVersion }: IncomingMessage): boolean {
  const hosts = fields.host?.length ?? 0;
  return (
    fields['content-length'] === undefined &&
    fields['transfer-encoding'] === undefined &&
    ((httpVersion === '1.1' && hosts === 1) || (httpVersion === '1.0' && hosts <= 1))
  );
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}
