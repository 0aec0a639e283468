/** A loopback proxy that terminates pinned origins, with an engine and a local CA of its own, and browsers for it. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type RequestListener,
  type RequestOptions,
  request,
} from 'node:http';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { createServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { type MeasuredExchange, type Protocol, TRUST_TRIAL_PORT } from '@hopwise/contract';
import { createAuthority } from '../../../../src/ca/authority.ts';
import { writeAuthority } from '../../../../src/ca/authority-store.ts';
import { LocalLeafIssuer } from '../../../../src/ca/leaf-issuer.ts';
import type { Engine, EngineOptions } from '../../../../src/engine/engine.ts';
import { LoopbackProxy, type ProxyRoute } from '../../../../src/pins/proxy/loopback-proxy.ts';
import { TerminatingProxy } from '../../../../src/pins/terminating/terminating-proxy.ts';
import { UNREACHABLE_FOR_MS } from '../../../../src/pins/terminating/upstream-health.ts';
import { LocalEngine } from '../../../support/local-engine.ts';
import { openTunnel, until } from '../../proxy/support/peers.ts';
import { showTrust } from './show-trust.ts';

export interface Lifted {
  port: number;
  reason: string;
}

/** An authority in a folder of its own, and its root. */
export async function newAuthority(
  folder: string,
  now: () => number = Date.now,
): Promise<{ issuer: LocalLeafIssuer; root: string }> {
  const authority = createAuthority(['localhost'], now());
  await writeAuthority(authority, folder);
  return { issuer: new LocalLeafIssuer({ folder, log: () => {}, now }), root: authority.root };
}

/** For the engine, and as `TerminatingProxyOptions` has it. */
interface PinnedOptions extends EngineOptions {
  pingEveryMs?: number;
  endingTimeoutMs?: number;
}

export class Pinned {
  readonly engine: Engine;
  readonly proxy: LoopbackProxy;
  readonly terminating: TerminatingProxy;
  readonly lifted: Lifted[] = [];
  readonly ready: number[] = [];
  readonly measured: MeasuredExchange[] = [];
  fallbacks = 0;
  doubts = 0;
  /** The key of the network. */
  network = 'home';
  /** Where the engine connects to instead of the pinned origin, as in `ExchangeRequest`. */
  connectTo: string | undefined;
  /** What browsers trust: the local CA and the origins'. */
  readonly roots: string[];
  /** Signs for the origins in this process. */
  readonly origins: LocalLeafIssuer;
  #port = 0;

  private constructor(
    issuer: LocalLeafIssuer,
    origins: LocalLeafIssuer,
    roots: string[],
    { pingEveryMs, endingTimeoutMs, ...options }: PinnedOptions,
  ) {
    this.origins = origins;
    this.roots = roots;
    this.engine = new LocalEngine(options);
    this.terminating = new TerminatingProxy({
      engine: {
        start: () => this.engine.start(),
        release: (...which) => this.engine.release(...which),
        exchange: (request) => this.engine.exchange({ connectTo: this.connectTo, ...request }),
      },
      issuer,
      identifyNetwork: () => this.network,
      log: () => {},
      onLifted: (_host, port, reason) => this.lifted.push({ port, reason }),
      onAddressRefused: (_host, port, reason) => this.lifted.push({ port, reason }),
      onReady: (_host, port) => this.ready.push(port),
      onDoubt: () => this.doubts++,
      onFallback: () => this.fallbacks++,
      onMeasured: (_host, _port, exchange) => this.measured.push(exchange),
      isTunnelled: (host, port) => this.proxy.isTunnelled(host, port),
      pingEveryMs,
      ...(endingTimeoutMs !== undefined && { endingTimeoutMs }),
    });
    this.proxy = new LoopbackProxy({
      log: () => {},
      route: (host, port) => this.#route(host, port),
    });
  }

  /** @param caFiles of the origins that the engine trusts. */
  static async start(folder: string, caFiles: string[], options: PinnedOptions = {}): Promise<Pinned> {
    const local = await newAuthority(join(folder, 'local'));
    const origins = await newAuthority(join(folder, 'origins'));
    const trusted = [...caFiles.map((file) => readFileSync(file, 'utf8')), origins.root];
    const bundle = join(folder, 'bundle.pem');
    writeFileSync(bundle, trusted.join(''));
    process.env.HOPWISE_CA_FILE = bundle;
    const pinned = new Pinned(local.issuer, origins.issuer, [local.root, ...trusted], options);
    await pinned.engine.start();
    pinned.#port = await pinned.proxy.listen();
    return pinned;
  }

  async stop(folder: string): Promise<void> {
    this.terminating.close();
    await this.proxy.close();
    await this.engine.close();
    delete process.env.HOPWISE_CA_FILE;
    rmSync(folder, { recursive: true });
  }

  /** Tunnels lead to this machine after a pin has ended, too. */
  #route(host: string, port: number): ProxyRoute {
    if (port === TRUST_TRIAL_PORT) return this.terminating.routeTrial(host);
    const route = this.terminating.routeConnect(host, port);
    return route.kind === 'tunnel' ? { ...route, from: 'loopback' } : route;
  }

  /** The port of the proxy. */
  get port(): number {
    return this.#port;
  }

  /** Pins an origin and waits until it is terminated. */
  async pin(port: number, protocol: Protocol | 'auto'): Promise<void> {
    this.terminating.unpin('localhost', port);
    this.ready.length = 0;
    this.terminating.pin('localhost', port, protocol, 'loopback');
    await this.showTrust();
    const isReady = () => this.ready.includes(port);
    await until(isReady, 2 * UNREACHABLE_FOR_MS).catch(async () => {
      // On a busy machine a first check may have met its time limit: a browser's next connection has the origin checked again.
      (await this.tunnel(port)).destroy();
      await until(isReady);
    });
  }

  /** What a browser that trusts the local CA does. */
  async showTrust(): Promise<void> {
    if (this.terminating.routeTrial('localhost').kind === 'terminate') await this.tryTrust(this.roots);
  }

  /** @returns whether a browser that trusts `roots` has shown trust. */
  tryTrust(roots: string[]): Promise<boolean> {
    return showTrust(this.#port, 'localhost', this.terminating.trialToken, roots);
  }

  tunnel(port: number): Promise<Socket> {
    return openTunnel(this.#port, `localhost:${port}`);
  }

  trialTunnel(): Promise<Socket> {
    return this.tunnel(TRUST_TRIAL_PORT);
  }

  /** A browser's connection to an origin through the proxy. */
  async connect(
    port: number,
    alpn: 'h2' | 'http/1.1',
    servername: string | undefined = 'localhost',
  ): Promise<TLSSocket> {
    const tunnel = await this.tunnel(port);
    const socket = connect({ socket: tunnel, servername, ca: this.roots, ALPNProtocols: [alpn] });
    socket.on('error', () => {});
    await new Promise<void>((resolve, reject) => {
      socket.once('secureConnect', resolve).once('error', reject);
      socket.once('close', () => reject(new Error('closed')));
    });
    return socket;
  }

  async http2(port: number): Promise<ClientHttp2Session> {
    const socket = await this.connect(port, 'h2');
    const session = connectHttp2(`https://localhost:${port}`, {
      createConnection: () => socket,
      // As much as Chromium takes.
      maxHeaderListPairs: 8_192,
      settings: { maxHeaderListSize: 256 * 1024 },
    });
    session.on('error', () => {});
    return session;
  }

  /** A server in this process for what the other does not do, over HTTP/1.1. */
  async origin(onRequest: RequestListener): Promise<OwnOrigin> {
    const own = { issuer: this.origins };
    const server = createServer(
      { SNICallback: (name, done) => done(null, own.issuer.contextFor(name) ?? undefined) },
      onRequest,
    );
    server.on('tlsClientError', () => {}).on('clientError', (_fault, socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return Object.assign(own, { server, port: (server.address() as AddressInfo).port });
  }
}

export interface OwnOrigin {
  server: HttpsServer;
  port: number;
  /** Issues its certificate for connections from now on. */
  issuer: LocalLeafIssuer;
}

/** Whether our certificate is at the other end. */
export function isTerminated(socket: TLSSocket): boolean {
  return /^hopwise local CA/.test(String(socket.getPeerCertificate().issuer.CN));
}

export interface Answer {
  status: number;
  headers: [string, string][];
  body: Buffer;
  trailers: Record<string, unknown>;
  informational: { status: number; link: unknown }[];
}

/** A request over HTTP/2 and its whole response. */
export function ask2(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: Buffer,
): Promise<Answer> {
  const stream = session.request(headers, { endStream: !body });
  if (body) stream.end(body);
  return answer2(stream);
}

/** @throws Error with `rstCode` when the stream is reset. */
export function answer2(stream: ClientHttp2Stream): Promise<Answer> {
  const answer: Answer = { status: 0, headers: [], body: Buffer.alloc(0), trailers: {}, informational: [] };
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    stream
      .on('headers', (headers) =>
        answer.informational.push({ status: Number(headers[':status']), link: headers.link }),
      )
      .on('response', (_headers, _flags, ...more: unknown[]) => {
        const raw = more[0] as string[];
        const fields = pairs(raw);
        answer.status = Number(fields.find(([name]) => name === ':status')![1]);
        answer.headers = fields.filter(([name]) => !name.startsWith(':'));
      })
      .on('trailers', (trailers) => {
        answer.trailers = Object.fromEntries(Object.entries(trailers));
      })
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('error', () => {})
      .on('close', () => {
        if (stream.rstCode) reject(Object.assign(new Error('reset'), { rstCode: stream.rstCode }));
        else resolve({ ...answer, body: Buffer.concat(chunks) });
      });
  });
}

const agents = new WeakMap<TLSSocket, Agent>();

/** A request over HTTP/1.1 on this connection, and its whole response. */
export function ask1(socket: TLSSocket, options: RequestOptions, body?: Buffer): Promise<Answer> {
  let agent = agents.get(socket);
  if (!agent) {
    agent = new Agent({ keepAlive: true, maxSockets: 1 });
    agent.createConnection = () => socket;
    agents.set(socket, agent);
  }
  const sent = request({ host: 'localhost', agent, ...options });
  sent.end(body);
  return answer1(sent);
}

function answer1(sent: ClientRequest): Promise<Answer> {
  const informational: Answer['informational'] = [];
  return new Promise((resolve, reject) => {
    sent
      .on('information', ({ statusCode, headers }) =>
        informational.push({ status: statusCode, link: headers.link }),
      )
      .on('error', reject)
      .on('response', (response: IncomingMessage) => {
        const chunks: Buffer[] = [];
        response
          .on('data', (chunk: Buffer) => chunks.push(chunk))
          .on('error', reject)
          .on('end', () =>
            resolve({
              status: response.statusCode!,
              headers: pairs(response.rawHeaders),
              body: Buffer.concat(chunks),
              trailers: { ...response.trailers },
              informational,
            }),
          );
      });
  });
}

export function pairs(raw: readonly string[]): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, index) => [raw[2 * index]!, raw[2 * index + 1]!]);
}
