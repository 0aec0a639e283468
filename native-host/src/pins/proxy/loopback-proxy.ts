/**
 * The proxy for pinned origins. It listens on the loopback address only, supports no method but CONNECT, and serves programs of the
 * user alone whom it runs as: the kernel tells whose the other end of a connection is, so that no browser has to log in.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type AddressSpace, addressSpace } from '@hopwise/contract';
import { AddressRefusedError } from '../../base/permitted-address.ts';
import { type Lookup, NAME_UNKNOWN } from '../../dns/lookup.ts';
import { AddressCache } from './address-cache.ts';
import { parseAuthority, withoutBrackets } from './authority.ts';
import { connectPermitted } from './connect-permitted.ts';
import { ENDING_TIMEOUT_MS } from './end-when-idle.ts';
import { reset } from './reset.ts';
import { SocketUsers } from './socket-users.ts';
import { HALF_CLOSED_TIMEOUT_MS, IDLE_TIMEOUT_MS, Tunnel } from './tunnel.ts';
import { UnidentifiedConnections } from './unidentified-connections.ts';

/**
 * Hosts are as in `URL.hostname`: an IPv6 address is in brackets. The log does not name an `isUnnamed` one: the user did not, but visits
 * it.
 */
export type ProxyRoute =
  /** `from` bounds the addresses that it may lead to. */
  | { kind: 'tunnel'; from: AddressSpace; isUnnamed?: boolean }
  | { kind: 'terminate'; accept(socket: Duplex, host: string, port: number): void }
  | { kind: 'refuse'; isUnnamed?: boolean };

/** Whether an origin's route has ended, or another one has begun. */
type RouteChange = 'ended' | 'replaced';

export interface ProxyLimits {
  /** Maximum size of a CONNECT's head; browsers send less than 1 KiB. */
  headBytes: number;
  /** From the start of a connection until its CONNECT has come and its user is known; on loopback that takes milliseconds. */
  headTimeoutMs: number;
  /** Maximum number of connections of which that is not so yet. */
  unidentified: number;
  /** Maximum number of the others; browsers open 32 per proxy, and more for WebSockets. */
  open: number;
  /** For name lookup and connection together. Browsers wait 30 s for a proxy, then show an error instead of connecting directly. */
  connectTimeoutMs: number;
  idleTimeoutMs: number;
  halfClosedTimeoutMs: number;
  /** How long a tunnel goes on at most after the end of its origin's route: the browser sends what is new elsewhere. */
  endingTimeoutMs: number;
  /** The same where another route has begun, through this proxy too: a busy page would go on using the tunnel for what is new. */
  replacedTimeoutMs: number;
}

const LIMITS: ProxyLimits = {
  headBytes: 8 * 1024,
  headTimeoutMs: 10_000,
  unidentified: 256,
  open: 12_000,
  connectTimeoutMs: 20_000,
  idleTimeoutMs: IDLE_TIMEOUT_MS,
  halfClosedTimeoutMs: HALF_CLOSED_TIMEOUT_MS,
  endingTimeoutMs: ENDING_TIMEOUT_MS,
  replacedTimeoutMs: 10_000,
};

export interface LoopbackProxyOptions {
  route(host: string, port: number): ProxyRoute;
  log(line: string): void;
  /**
   * Called for every CONNECT of the user that was reset. Chromium then connects directly; if that succeeds, it bypasses the
   * proxy for all origins until its settings are applied again.
   */
  onReset?(host: string, port: number): void;
  /** Called before the reset of a CONNECT whose host has no address that it may lead to; `reason` is one line for the user. */
  onAddressRefused?(host: string, port: number, reason: string): void;
  /** Called before the reset of a CONNECT whose host this machine's resolver does not know. The browser's own may. */
  onNameUnknown?(host: string, port: number): void;
  limits?: Partial<ProxyLimits>;
  /** Instead of the configured resolver. */
  lookup?: Lookup;
}

const LOOPBACK = '127.0.0.1';

const ESTABLISHED = 'HTTP/1.1 200 Connection Established\r\n\r\n';

/** The route of the origin changed while its CONNECT waited for a connection. */
const REROUTED = new Error('routed anew');

/** A CONNECT of the user, until its socket is closed. */
interface Passage {
  socket: Socket;
  host: string;
  port: number;
  /** Aborts the connection attempt; null when that has ended. */
  connecting: AbortController | null;
  tunnel: Tunnel | null;
}

export class LoopbackProxy {
  readonly #options: LoopbackProxyOptions;
  readonly #limits: ProxyLimits;
  readonly #users = new SocketUsers();
  readonly #addresses: AddressCache;
  readonly #unidentified: UnidentifiedConnections;
  readonly #passages = new Set<Passage>();
  /** One for each port. */
  readonly #servers: Server[] = [];
  readonly #ports = new Set<number>();
  #hasMetStranger = false;

  constructor(options: LoopbackProxyOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#addresses = new AddressCache(options.lookup);
    this.#unidentified = new UnidentifiedConnections(this.#limits.unidentified, this.#limits.headTimeoutMs);
  }

  /** Number of the user's connections. */
  get open(): number {
    return this.#passages.size;
  }

  /** Whether connections to an origin are tunnelled, or are about to be. */
  isTunnelled(host: string, port: number): boolean {
    return [...this.#passages].some(
      (each) =>
        each.host === host && each.port === port && (each.tunnel !== null || each.connecting !== null),
    );
  }

  /** Listens on one more port. @returns the port. */
  listen(): Promise<number> {
    return new Promise((resolve, reject) => {
      const server = this.#createServer();
      server.once('error', reject);
      server.listen(0, LOOPBACK, () => {
        server.off('error', reject);
        // Such as a lack of descriptors: the connection is lost, the proxy goes on.
        server.on('error', (fault) => this.#options.log(`pin proxy: ${fault.message}`));
        const { port } = server.address() as AddressInfo;
        this.#servers.push(server);
        this.#ports.add(port);
        resolve(port);
      });
    });
  }

  /**
   * To be called when an origin's route changes: its tunnels end as soon as they are idle, and CONNECTs that wait for a connection
   * are routed again. Terminated connections are managed by their `accept`, which knows the requests in progress.
   *
   * @param from of the route from now on: a tunnel that leads elsewhere is cut, as a browser may send new requests through it
   */
  closeOrigin(host: string, port: number, from: AddressSpace, change: RouteChange): void {
    this.closeOrigins((...own) => own[0] === host && own[1] === port, from, change);
  }

  /** Does what `closeOrigin` does for all origins that `isChanged` selects. */
  closeOrigins(
    isChanged: (host: string, port: number) => boolean,
    from: AddressSpace,
    change: RouteChange,
  ): void {
    const { endingTimeoutMs, replacedTimeoutMs } = this.#limits;
    const limitMs = change === 'ended' ? endingTimeoutMs : replacedTimeoutMs;
    for (const { host, port, connecting, tunnel } of this.#passages) {
      if (!isChanged(host, port)) continue;
      connecting?.abort(REROUTED);
      if (tunnel?.isPermitted(from)) tunnel.endWhenIdle(limitMs);
      else tunnel?.destroy();
    }
  }

  /** Stops listening and closes every connection. Waiting CONNECTs are reset, so that the browser connects directly. */
  async close(): Promise<void> {
    const closed = [...this.#passages].map(
      ({ socket }) => new Promise<void>((resolve) => socket.once('close', resolve)),
    );
    for (const server of this.#servers) closed.push(new Promise((resolve) => server.close(() => resolve())));
    this.#unidentified.clear();
    for (const { socket, connecting, tunnel } of this.#passages) {
      if (connecting) connecting.abort(new Error('the proxy is closed'));
      else if (tunnel) tunnel.destroy();
      else socket.destroy();
    }
    await Promise.all(closed);
  }

  #createServer(): Server {
    const drop = ({ socket }: IncomingMessage): void => void socket.destroy();
    // `UnidentifiedConnections` has the time limit. Node would answer a request without Host.
    return createServer({
      maxHeaderSize: this.#limits.headBytes,
      headersTimeout: 0,
      requestTimeout: 0,
      requireHostHeader: false,
    })
      .on('connection', (socket) => {
        socket.on('error', () => {});
        this.#unidentified.add(socket);
      })
      .on('request', drop)
      .on('checkContinue', drop)
      .on('checkExpectation', drop)
      .on('clientError', (_fault, socket) => socket.destroy())
      .on('connect', (request, socket, head) => this.#onConnect(request, socket as Socket, head));
  }

  #onConnect(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const authority = isPlainConnect(request) ? parseAuthority(request.url ?? '') : null;
    // The parser continues with bytes that followed a rejected request.
    if (!authority || socket.destroyed) {
      socket.destroy();
      return;
    }
    if (head.length > 0) socket.unshift(head);
    void this.#admit(socket, authority);
  }

  /** Serves a CONNECT if it comes from a program of this user. */
  async #admit(socket: Socket, authority: Pick<Passage, 'host' | 'port'>): Promise<void> {
    const problem = await this.#explainStranger(socket);
    // It was closed meanwhile, by either side.
    if (socket.destroyed) return;
    this.#unidentified.remove(socket);
    if (problem !== '') {
      this.#logStranger(problem);
      reset(socket);
      return;
    }
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
    await this.#pass(passage);
  }

  /** @returns why a connection is not known to come from a program of this user, '' where it is */
  async #explainStranger(socket: Socket): Promise<string> {
    try {
      const user = await this.#users.findUser(socket);
      if (user === null) return 'a connection that no program has any more';
      return user === process.getuid?.() ? '' : `a connection of user ${user}`;
    } catch (fault) {
      return `a connection of an unknown user: ${(fault as Error).message}`;
    }
  }

  /** Logs the first one alone: other users must not fill the log. */
  #logStranger(problem: string): void {
    if (this.#hasMetStranger) return;
    this.#hasMetStranger = true;
    this.#options.log(`pin proxy: refused ${problem}; further ones are not logged`);
  }

  async #pass(passage: Passage): Promise<void> {
    const { socket, host, port } = passage;
    let route: ProxyRoute = { kind: 'refuse' };
    try {
      route = this.#options.route(host, port);
      if (route.kind === 'refuse') throw new Error('it is not pinned');
      if (route.kind === 'terminate') {
        socket.write(ESTABLISHED);
        route.accept(socket, host, port);
        return;
      }
      const origin = await this.#connect(passage, route.from);
      if (socket.destroyed) {
        origin.destroy();
        return;
      }
      // Not before: an early answer would save a loopback round trip of 0.1 ms, and leave the browser with a broken connection
      // when the origin cannot be reached.
      socket.write(ESTABLISHED);
      const { idleTimeoutMs: idleMs, halfClosedTimeoutMs: halfClosedMs } = this.#limits;
      passage.tunnel = new Tunnel(socket, origin, { idleMs, halfClosedMs });
    } catch (fault) {
      if (socket.destroyed) return;
      if (fault === REROUTED) return this.#pass(passage);
      const { code, message } = fault as NodeJS.ErrnoException;
      const isUnnamed = 'isUnnamed' in route && route.isUnnamed;
      // The message of a failed lookup has the name as well.
      this.#options.log(
        `pin proxy: no route${isUnnamed ? `: ${code ?? 'no answer'}` : ` to ${host}:${port}: ${message}`}`,
      );
      if (fault instanceof AddressRefusedError) this.#options.onAddressRefused?.(host, port, message);
      if (code === NAME_UNKNOWN) this.#options.onNameUnknown?.(host, port);
      // After a reset Chromium connects directly, and loads the page or shows its own error. After an orderly end or a status of
      // 4xx or 5xx it shows a proxy error.
      reset(socket);
      this.#options.onReset?.(host, port);
    }
  }

  async #connect(passage: Passage, from: AddressSpace): Promise<Socket> {
    const host = withoutBrackets(passage.host);
    const { port } = passage;
    const connecting = new AbortController();
    passage.connecting = connecting;
    const timer = setTimeout(() => {
      connecting.abort(new Error(`no connection within ${this.#limits.connectTimeoutMs} ms`));
    }, this.#limits.connectTimeoutMs);
    try {
      const addresses = await this.#addresses.addresses(host, connecting.signal);
      const others = addresses.filter(({ address }) => !this.#isOwn(address, port));
      return await connectPermitted(others, { port, from, allowHalfOpen: true }, connecting.signal);
    } catch (fault) {
      this.#addresses.forget(host);
      throw fault;
    } finally {
      clearTimeout(timer);
      passage.connecting = null;
    }
  }

  /** Whether a connection would loop back to this proxy. */
  #isOwn(address: string, port: number): boolean {
    return this.#ports.has(port) && addressSpace(address) === 'loopback';
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
