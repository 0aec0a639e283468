/**
 * What Chromium does with requests to one origin, as far as faults matter: which it sends again (`HttpNetworkTransaction`), when it
 * goes without the proxy, which errors it shows.
 */
import { readFileSync } from 'node:fs';
import { type ClientRequest, Agent as HttpAgent, request as httpRequest } from 'node:http';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  constants,
} from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { MAX_CONNECTIONS_PER_HOST } from '@hopwise/contract';
import { connectHead } from '../pins/proxy/support/peers.ts';
import { isTerminated } from '../pins/terminating/support/pinned.ts';

/**
 * - `proxy`: an error page about the proxy, which a direct connection would never show,
 * - `certificate`: of the origin, or of the local CA,
 * - `connection`: not made, or lost,
 * - `response`: broken off, or not one,
 * - `given-up`: by the user who waited.
 */
export type Failure = 'proxy' | 'certificate' | 'connection' | 'response' | 'given-up';

/**
 * Why the browser sends a request again by itself:
 *
 * - `lost`: the connection had been used before; as often as there is such a one,
 * - `refused`: the origin has not acted on it, says the connection; `MAX_REFUSALS` times,
 * - `misdirected`: so says a 421; once, then the page gets it.
 */
type Again = 'lost' | 'refused' | 'misdirected';

/** The proxy closed the connection before it answered CONNECT. */
export const UNANSWERED = 'ERR_TUNNEL_CONNECTION_FAILED without an answer';

export class BrowserError extends Error {
  readonly failure: Failure;
  /** null: it does not. */
  readonly again: Again | null;

  constructor(failure: Failure, message: string, again: Again | null = null) {
    super(message);
    this.failure = failure;
    this.again = again;
  }
}

interface BrowserRequestOptions {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: Buffer;
}

/** One time that a request was sent. */
export interface Attempt {
  /** Whether our certificate was at the other end. */
  terminated: boolean;
  /** Why the browser may send it again. */
  again: Again | null;
  /** The response had begun. */
  headSeen: boolean;
  error: string;
}

export interface Answered {
  status: number;
  body: Buffer;
}

export interface Result {
  answer: Answered | null;
  failure: BrowserError | null;
  attempts: Attempt[];
}

interface ModelBrowserOptions {
  port: number;
  /** null: without one. */
  proxy: { port: number } | null;
  alpn: readonly string[];
  roots: string[];
  /** How far the machine's clock is off, milliseconds. */
  clockOffsetMs: () => number;
}

/** Node 24 does not hear of a connection over HTTP/2 that is reset in the moment of a write (nodejs/node#42710), as Chromium does. */
function destroyWhenLost(socket: TLSSocket): void {
  const inHex = socket.localPort!.toString(16).toUpperCase().padStart(4, '0');
  const timer = setInterval(() => {
    if (!readFileSync('/proc/net/tcp', 'latin1').includes(`0100007F:${inHex} `)) socket.destroy();
  }, 200);
  socket.once('close', () => clearInterval(timer));
}

/** Chromium's kMaxRetryAttempts: times that a refused request is sent again. */
const MAX_REFUSALS = 2;

interface Http1Connection {
  socket: TLSSocket;
  agent: HttpAgent;
  used: boolean;
}

interface Http2Connection {
  socket: TLSSocket;
  session: ClientHttp2Session;
  used: boolean;
}

export class ModelBrowser {
  readonly #options: ModelBrowserOptions;
  /** Chromium's mark after a fallback that worked. */
  #isProxyBad = false;
  #http2: Http2Connection | null = null;
  #connecting: Promise<TLSSocket> | null = null;
  readonly #idle: Http1Connection[] = [];
  #openHttp1 = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #sockets = new Set<Socket>();
  /** Those with our certificate at the other end. */
  readonly #terminated = new WeakSet<TLSSocket>();

  constructor(options: ModelBrowserOptions) {
    this.#options = options;
  }

  /** @param path of the n-th attempt, from 0. */
  async ask(
    options: Omit<BrowserRequestOptions, 'path'>,
    path: (attempt: number) => string,
    signal: AbortSignal,
  ): Promise<Result> {
    const attempts: Attempt[] = [];
    for (;;) {
      const attempt: Attempt = { terminated: false, again: null, headSeen: false, error: '' };
      attempts.push(attempt);
      try {
        const answer = await this.#once({ ...options, path: path(attempts.length - 1) }, attempt, signal);
        return { answer, failure: null, attempts };
      } catch (fault) {
        if (!(fault instanceof BrowserError)) throw fault;
        const failure = signal.aborted ? new BrowserError('given-up', fault.message) : fault;
        attempt.again = failure.again;
        attempt.error = `${failure.failure}: ${failure.message}`;
        if (!mayRepeat(attempts)) return { answer: null, failure, attempts };
      }
    }
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async #once(options: BrowserRequestOptions, attempt: Attempt, signal: AbortSignal): Promise<Answered> {
    for (;;) {
      const connection = await this.#connection(signal);
      if (!connection) continue;
      attempt.terminated = this.#terminated.has(connection.socket);
      return 'session' in connection
        ? this.#overHttp2(connection, options, attempt, signal)
        : this.#overHttp1(connection, options, attempt, signal);
    }
  }

  /** null: look again. */
  async #connection(signal: AbortSignal): Promise<Http1Connection | Http2Connection | null> {
    if (this.#http2) return this.#http2;
    const idle = this.#idle.pop();
    if (idle) return idle;
    if (this.#openHttp1 >= MAX_CONNECTIONS_PER_HOST) {
      await until<void>(signal, (resolve) => this.#waiting.push(resolve));
      return null;
    }
    // What the origin speaks is seen on the first connection.
    const isShared = this.#options.alpn.includes('h2') && this.#openHttp1 === 0;
    const made = (isShared && this.#connecting) || this.#connect(signal);
    if (isShared) this.#connecting = made;
    try {
      const socket = await made;
      if (socket.alpnProtocol === 'h2') return this.#http2 ?? this.#newHttp2(socket);
      if (isShared && this.#connecting !== made) return null;
      return this.#newHttp1(socket);
    } finally {
      if (this.#connecting === made) this.#connecting = null;
    }
  }

  #newHttp2(socket: TLSSocket): Http2Connection {
    const session = connectHttp2(`https://localhost:${this.#options.port}`, {
      createConnection: () => socket,
    });
    const connection = { socket, session, used: false };
    const leave = (): void => {
      if (this.#http2 === connection) this.#http2 = null;
    };
    session.on('error', leave).on('goaway', leave).on('close', leave);
    socket.once('close', leave);
    destroyWhenLost(socket);
    this.#http2 = connection;
    return connection;
  }

  #newHttp1(socket: TLSSocket): Http1Connection {
    const agent = new HttpAgent({ keepAlive: true, maxSockets: 1 });
    agent.createConnection = () => socket;
    const connection = { socket, agent, used: false };
    this.#openHttp1 += 1;
    const leave = (): void => {
      const at = this.#idle.indexOf(connection);
      if (at >= 0) this.#idle.splice(at, 1);
    };
    socket.once('end', leave);
    socket.once('close', () => {
      leave();
      this.#openHttp1 -= 1;
      this.#waiting.shift()?.();
    });
    return connection;
  }

  /** A connection to the origin after its TLS handshake. */
  async #connect(signal: AbortSignal): Promise<TLSSocket> {
    const { proxy, clockOffsetMs } = this.#options;
    const offsetMs = clockOffsetMs();
    if (proxy && !this.#isProxyBad) {
      const tunnel = await this.#tunnel(proxy, signal);
      if (tunnel) return this.#handshake(tunnel, offsetMs, signal);
      const socket = await this.#handshake(await this.#direct(signal), offsetMs, signal);
      this.#isProxyBad = true;
      return socket;
    }
    return this.#handshake(await this.#direct(signal), offsetMs, signal);
  }

  /** null: the browser tries without the proxy. */
  async #tunnel({ port }: { port: number }, signal: AbortSignal): Promise<Socket | null> {
    const socket = this.#tcp(port);
    const target = `localhost:${this.#options.port}`;
    socket.write(connectHead(target));
    let head = '';
    const outcome = await until<'open' | 'reset' | 'ended'>(signal, (resolve) => {
      const read = (): void => {
        for (let byte = socket.read(1); byte !== null; byte = socket.read(1)) {
          head += (byte as Buffer).toString('latin1');
          if (!head.endsWith('\r\n\r\n')) continue;
          socket.off('readable', read);
          resolve('open');
          return;
        }
      };
      socket.on('readable', read);
      socket.once('error', () => resolve('reset'));
      socket.once('end', () => resolve('ended'));
    }).catch((fault) => {
      socket.destroy();
      throw fault;
    });
    if (outcome === 'open' && head.startsWith('HTTP/1.1 200 ')) return socket;
    socket.destroy();
    if (outcome === 'reset') return null;
    throw new BrowserError('proxy', head === '' ? UNANSWERED : `ERR_TUNNEL_CONNECTION_FAILED ${head}`);
  }

  async #direct(signal: AbortSignal): Promise<Socket> {
    const socket = this.#tcp(this.#options.port);
    await until<void>(signal, (resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', ({ message }) => reject(new BrowserError('connection', message)));
    });
    return socket;
  }

  #tcp(port: number): Socket {
    const socket = connectTcp({ port, host: '127.0.0.1', noDelay: true });
    this.#sockets.add(socket);
    socket.on('error', () => {}).once('close', () => this.#sockets.delete(socket));
    return socket;
  }

  /** @param offsetMs of the clock at the CONNECT: what the host shows was made by then, or by now where it was set meanwhile. */
  async #handshake(tunnel: Socket, offsetMs: number, signal: AbortSignal): Promise<TLSSocket> {
    const { alpn, roots, clockOffsetMs } = this.#options;
    const offsets = [offsetMs, clockOffsetMs()];
    const isClockSet = offsets.some((ms) => ms !== 0);
    const socket = connectTls({
      socket: tunnel,
      servername: 'localhost',
      ca: roots,
      ALPNProtocols: [...alpn],
      // OpenSSL knows the machine's clock only; then dates are looked at below.
      rejectUnauthorized: !isClockSet,
    });
    socket.on('error', () => {});
    await until<void>(signal, (resolve, reject) => {
      socket.once('secureConnect', () => {
        if (!isClockSet || offsets.some((ms) => isAcceptable(socket, Date.now() + ms))) resolve();
        else reject(new BrowserError('certificate', String(socket.authorizationError)));
      });
      socket.once('error', (fault: NodeJS.ErrnoException) => {
        const isRefused = /CERT|SIGNATURE|ISSUER/.test(fault.code ?? '');
        reject(
          new BrowserError(isRefused ? 'certificate' : 'connection', `in the handshake: ${fault.message}`),
        );
      });
      socket.once('close', () => reject(new BrowserError('connection', 'closed in the handshake')));
    }).catch((fault) => {
      socket.destroy();
      throw fault;
    });
    if (isTerminated(socket)) this.#terminated.add(socket);
    return socket;
  }

  async #overHttp2(
    connection: Http2Connection,
    { method, path, headers, body }: BrowserRequestOptions,
    attempt: Attempt,
    signal: AbortSignal,
  ): Promise<Answered> {
    const { session } = connection;
    const reused = connection.used;
    connection.used = true;
    let stream: ClientHttp2Stream;
    try {
      stream = session.request({ ':method': method, ':path': path, ...headers }, { endStream: !body });
    } catch (fault) {
      if (this.#http2 === connection) this.#http2 = null;
      throw new BrowserError('connection', (fault as Error).message, 'lost');
    }
    if (body) stream.end(body);
    const chunks: Buffer[] = [];
    let status = 0;
    return until<Answered>(signal, (resolve, reject) => {
      let fault: NodeJS.ErrnoException | null = null;
      stream
        .on('response', (fields) => {
          status = Number(fields[':status']);
          attempt.headSeen = true;
        })
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('error', (error) => {
          fault = error;
        })
        .on('close', () => {
          const code = stream.rstCode;
          const isLost = session.destroyed || connection.socket.destroyed;
          if (
            stream.readableEnded &&
            status !== 0 &&
            code === constants.NGHTTP2_NO_ERROR &&
            !stream.aborted
          ) {
            resolve({ status, body: Buffer.concat(chunks) });
          } else if (code === constants.NGHTTP2_REFUSED_STREAM) {
            reject(new BrowserError('response', 'REFUSED_STREAM', 'refused'));
          } else if (
            fault?.code === 'ERR_HTTP2_GOAWAY_SESSION' ||
            fault?.code === 'ERR_HTTP2_INVALID_SESSION'
          ) {
            reject(new BrowserError('connection', fault.code, 'refused'));
          } else if (isLost && status === 0) {
            reject(new BrowserError('connection', `lost: ${fault?.message ?? code}`, reused ? 'lost' : null));
          } else reject(new BrowserError('response', `reset: ${fault?.message ?? code}`));
        });
    }).catch((fault) => {
      stream.close(constants.NGHTTP2_CANCEL);
      throw fault;
    });
  }

  async #overHttp1(
    connection: Http1Connection,
    { method, path, headers, body }: BrowserRequestOptions,
    attempt: Attempt,
    signal: AbortSignal,
  ): Promise<Answered> {
    const { agent, socket } = connection;
    const reused = connection.used;
    connection.used = true;
    const host = `localhost:${this.#options.port}`;
    const sent: ClientRequest = httpRequest({
      agent,
      method,
      path,
      headers: { host, ...headers, ...(body ? { 'content-length': body.length } : {}) },
    });
    // Read while the body still goes out: an answer may come before its end.
    sent.end(body);
    try {
      const answer = await until<Answered & { keep: boolean }>(signal, (resolve, reject) => {
        sent
          .on('error', (fault: NodeJS.ErrnoException) => {
            const isMalformed = fault.code?.startsWith('HPE_') ?? false;
            if (isMalformed) reject(new BrowserError('response', fault.message));
            else {
              const again = reused && !attempt.headSeen ? 'lost' : null;
              reject(new BrowserError('connection', `lost: ${fault.message}`, again));
            }
          })
          .on('response', (response) => {
            attempt.headSeen = true;
            const chunks: Buffer[] = [];
            response
              .on('data', (chunk: Buffer) => chunks.push(chunk))
              .on('error', (fault) => reject(new BrowserError('response', fault.message)))
              .on('end', () => {
                const keep = response.headers.connection !== 'close';
                resolve({ status: response.statusCode!, body: Buffer.concat(chunks), keep });
              });
          });
      });
      if (!answer.keep || socket.destroyed) socket.destroy();
      else {
        this.#idle.push(connection);
        this.#waiting.shift()?.();
      }
      if (answer.status === 421) throw new BrowserError('response', 'status 421', 'misdirected');
      return answer;
    } catch (fault) {
      socket.destroy();
      throw fault;
    }
  }
}

/** Whether the browser sends a request again after these attempts. */
function mayRepeat(attempts: readonly Attempt[]): boolean {
  const count = (why: Again): number => attempts.filter(({ again }) => again === why).length;
  switch (attempts.at(-1)!.again) {
    case 'lost':
      return true;
    case 'refused':
      return count('refused') <= MAX_REFUSALS;
    case 'misdirected':
      return count('misdirected') === 1;
    default:
      return false;
  }
}

/** A promise that gives up with the signal. */
function until<T>(
  signal: AbortSignal,
  start: (resolve: (value: T) => void, reject: (fault: BrowserError) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(new BrowserError('given-up', 'no end in sight'));
    if (signal.aborted) return giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    const over =
      <V>(settle: (value: V) => void) =>
      (value: V): void => {
        signal.removeEventListener('abort', giveUp);
        settle(value);
      };
    start(over(resolve), over(reject));
  });
}

/** What a browser on a machine with this clock makes of the certificate; origins' are taken to be renewed in time. */
function isAcceptable(socket: TLSSocket, nowMs: number): boolean {
  if (!isTerminated(socket)) return socket.authorized;
  const { valid_from: from, valid_to: to } = socket.getPeerCertificate();
  const isTrusted = socket.authorized || /NOT_YET_VALID|EXPIRED/.test(String(socket.authorizationError));
  return isTrusted && Date.parse(from) <= nowMs && nowMs < Date.parse(to);
}
