/** Makes a session's requests as a browser would: through the helper's proxy, over HTTP/2, with the local CA's certificate. */
import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type ToExtension, TRUST_TRIAL_PORT } from '@hopwise/contract';
import { type Helper, SteeringRefusal } from './helper.ts';
import { type SessionOrder, type SessionResult, STEERED } from './session.ts';

type PinsMessage = Extract<ToExtension, { type: 'pins' }>;

const HTTPS_PORT = 443;
const REQUEST_LIMIT_MS = 30_000;
/** The helper reports every 2 s. */
const REPORT_LIMIT_MS = 4000;
/** As often as browsers try a request whose connection was closed. */
const ATTEMPTS = 3;
const FAILED: Answer = { status: 0, bytes: 0 };

export class SessionClient {
  readonly #helper: Helper;
  /** PEM of what a browser trusts: the local CA, and the servers', to which the proxy only tunnels while a pin is in doubt. */
  readonly #roots: readonly string[];

  constructor(helper: Helper, roots: readonly string[]) {
    this.#helper = helper;
    this.#roots = roots;
  }

  /** @param change changes the network, at the request that the order names */
  async run(order: SessionOrder, change: () => Promise<void>): Promise<SessionResult> {
    const { origin, transport } = order;
    const { hostname } = new URL(origin);
    const pinned = await this.#pin(origin, hostname);
    const browser = new Browser(() => this.#open(pinned, hostname));
    try {
      const refusal = await this.#steer(origin, STEERED[transport]);
      const nothing = { refusal, beganAtMs: Date.now(), requests: [], exchanges: [] };
      if (refusal !== '') return nothing;
      await browser.connect();
      const made = await makeRequests(browser, order, change);
      const answered = made.requests.filter(({ status }) => status > 0).length;
      const exchanges = await this.#helper.takeExchanges(answered, REPORT_LIMIT_MS);
      return { ...nothing, ...made, exchanges };
    } finally {
      browser.close();
      await this.#helper.ask({ type: 'unpin', origin });
    }
  }

  async #pin(origin: string, host: string): Promise<PinsMessage> {
    const state = await this.#helper.ask({
      type: 'pin',
      origin,
      kind: 'auto',
      minutes: null,
      persistent: false,
      allowLocal: true,
    });
    const isUntried = state.trials.includes(host);
    const [settled] = await Promise.all([
      this.#helper.settle(state),
      isUntried ? this.#showTrust(state, host) : undefined,
    ]);
    return settled;
  }

  /** @returns why the transport is not possible, else '' */
  async #steer(origin: string, protocol: 'h2' | 'h3'): Promise<string> {
    try {
      await this.#helper.ask({ type: 'steer', origin, protocol });
      return '';
    } catch (error) {
      if (error instanceof SteeringRefusal) return error.message;
      throw error;
    }
  }

  /** What the extension has a browser do that trusts the local CA. */
  async #showTrust({ port, trialToken }: PinsMessage, host: string): Promise<void> {
    const tunnel = await openTunnel(port, `${host}:${TRUST_TRIAL_PORT}`);
    const socket = connectTls({ socket: tunnel, servername: host, ca: [...this.#roots] });
    socket.on('end', () => socket.destroy()).resume();
    socket.write(`GET /${trialToken} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    await once(socket, 'close');
  }

  async #open({ port }: PinsMessage, host: string): Promise<ClientHttp2Session> {
    const tunnel = await openTunnel(port, `${host}:${HTTPS_PORT}`);
    const socket = connectTls({
      socket: tunnel,
      servername: host,
      ca: [...this.#roots],
      ALPNProtocols: ['h2'],
    });
    await once(socket, 'secureConnect');
    const session = connectHttp2(`https://${host}`, {
      createConnection: () => socket,
      // As much as browsers take.
      settings: { initialWindowSize: 6 * 1024 * 1024 },
    });
    await once(session, 'connect');
    session.setLocalWindowSize(15 * 1024 * 1024);
    session.on('error', () => {});
    return session;
  }
}

async function openTunnel(port: number, target: string): Promise<Socket> {
  const socket = connectTcp({ port, host: '127.0.0.1', noDelay: true });
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
  let head = '';
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    head += (chunk as Buffer).toString('latin1');
    if (head.endsWith('\r\n\r\n')) break;
  }
  if (!/^HTTP\/1\.1 200 /.test(head))
    throw new Error(`no tunnel to ${target}: ${head.split('\r\n')[0] || 'closed'}`);
  return socket;
}

/** Makes the requests in their order: the same ones are before and after the change under each transport. */
async function makeRequests(
  browser: Browser,
  { requests, parallel, changesBefore, limitMs }: SessionOrder,
  change: () => Promise<void>,
): Promise<Pick<SessionResult, 'beganAtMs' | 'requests'>> {
  const beganAtMs = Date.now();
  const began = performance.now();
  const made: SessionResult['requests'] = [];
  const ends: Promise<void>[] = [];
  const running = new Set<Promise<void>>();
  for (const [index, { path, after }] of requests.entries()) {
    if (after !== null) await ends[after];
    while (running.size >= parallel) await Promise.race(running);
    if (performance.now() - began > limitMs) break;
    if (index === changesBefore) await change();
    const startedMs = performance.now() - began;
    const end = browser.request(path).then(({ status, bytes }) => {
      running.delete(end);
      made.push({ index, startedMs, tookMs: performance.now() - began - startedMs, status, bytes });
    });
    ends.push(end);
    running.add(end);
  }
  await Promise.all(running);
  return { beganAtMs, requests: made };
}

interface Answer {
  /** 0 where it failed. */
  status: number;
  bytes: number;
}

/** The connection to the proxy: a new one where it was closed, over which requests that it has cost are made again. */
class Browser {
  readonly #open: () => Promise<ClientHttp2Session>;
  #session: Promise<ClientHttp2Session> | null = null;

  constructor(open: () => Promise<ClientHttp2Session>) {
    this.#open = open;
  }

  async connect(): Promise<ClientHttp2Session> {
    const known = this.#session;
    const session = await known?.catch(() => null);
    if (session && isUsable(session)) return session;
    // The first request that finds it closed opens the next one.
    if (this.#session === known) this.#session = this.#open();
    return this.#session!;
  }

  async request(path: string): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.connect().then(
        (session) => ask(session, path),
        () => FAILED,
      );
      if (answer.status > 0 || attempt === ATTEMPTS) return answer;
    }
  }

  close(): void {
    void this.#session?.then(
      (session) => session.destroy(),
      () => {},
    );
  }
}

const isUsable = ({ closed, destroyed }: ClientHttp2Session): boolean => !closed && !destroyed;

/** A request and its whole answer. */
function ask(session: ClientHttp2Session, path: string): Promise<Answer> {
  return new Promise((resolve) => {
    let status = 0;
    let bytes = 0;
    if (!isUsable(session)) return resolve(FAILED);
    const stream = session.request({ ':path': path });
    stream.setTimeout(REQUEST_LIMIT_MS, () => stream.close(constants.NGHTTP2_CANCEL));
    stream
      .on('response', (headers) => {
        status = headers[':status'] ?? 0;
      })
      .on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      })
      .on('error', () => {})
      .on('close', () => resolve(stream.rstCode === 0 && !stream.aborted ? { status, bytes } : FAILED));
  });
}
