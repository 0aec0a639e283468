import { type ClientHttp2Session, constants } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Protocol } from '@hopwise/contract';
import { expect } from 'vitest';
import { type Answer, ask1, ask2 } from '../../pins/terminating/support/pinned.ts';
import { type Case, MIB, RIGHT } from './cases.ts';
import { othersGoOn, type Served } from './serve-pinned.ts';

/** A broken answer is to be seen by then, its repetitions with it. */
const LIMIT_MS = 8_000;

/** The browser's HTTP versions. */
export const VERSIONS = ['h1', 'h2'] as const;
export type Version = (typeof VERSIONS)[number];

/** Each case over the HTTP version whose turn it is. */
export function turns<Shown>(cases: readonly Case<Shown>[]): [string, Version, Case<Shown>][] {
  return cases.map((one, index) => [one.name, VERSIONS[index % VERSIONS.length]!, one]);
}

export interface HostileOrigin<Answer> {
  readonly port: number;
  /** Answers so from now on; null is well, to the helper's own looks. */
  show(answer: Answer | null): void | Promise<void>;
}

/** A browser with a connection of each HTTP version to an origin, which opens new ones and pins anew where it has to. */
export class HostileBrowser<Shown> {
  readonly #served: Served;
  readonly #protocol: Protocol;
  readonly #origin: () => HostileOrigin<Shown>;
  #session: ClientHttp2Session | null = null;
  #socket: TLSSocket | null = null;

  /** @param origin known once the hooks of a file have run. */
  constructor(served: Served, protocol: Protocol, origin: () => HostileOrigin<Shown>) {
    this.#served = served;
    this.#protocol = protocol;
    this.#origin = origin;
  }

  /**
   * @returns null for a response that is broken.
   * @throws Error where there is no end of it in time.
   */
  async ask(version: Version, shown: Shown): Promise<Answer | null> {
    await this.#show(shown);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        this.close();
        reject(new Error(`no end of it over ${version} within ${LIMIT_MS} ms`));
      }, LIMIT_MS);
    });
    try {
      return await Promise.race([this.#asked(version), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Asks, has others go on meanwhile, and what follows is right. */
  async hold(version: Version, one: Case<Shown>, good: Shown): Promise<void> {
    const [got] = await Promise.all([this.ask(version, one), othersGoOn(this.#served)]);
    const body = got?.body.toString('latin1');
    expect(one.right.map((each) => each?.slice(0, 200) ?? null)).toContain(body?.slice(0, 200) ?? null);
    if (got) {
      expect(one.right.map((each) => each?.length)).toContain(got.body.length);
      expect(got.status).toBe(one.status ?? 200);
    }
    await this.holdNext(version, good);
  }

  async holdNext(version: Version, good: Shown): Promise<void> {
    expect((await this.ask(version, good))?.body.toString()).toBe(RIGHT);
  }

  /**
   * Asks for what has no end, and gives it up unless that breaks by itself.
   *
   * @param meanwhile before that.
   */
  async flood(shown: Shown, meanwhile: () => Promise<void>): Promise<void> {
    await this.#show(shown);
    const stream = (await this.#http2()).request({ ':path': '/' });
    const ended = new Promise<void>((resolve) => stream.on('error', () => {}).once('close', resolve));
    stream.resume();
    await meanwhile();
    stream.close(constants.NGHTTP2_CANCEL);
    await ended;
    expect(stream.rstCode).not.toBe(constants.NGHTTP2_NO_ERROR);
  }

  async #show(shown: Shown): Promise<void> {
    const { pinned } = this.#served;
    const origin = this.#origin();
    if (pinned.terminating.routeConnect('localhost', origin.port).kind !== 'terminate') {
      this.close();
      await origin.show(null);
      await pinned.pin(origin.port, this.#protocol);
    }
    await origin.show(shown);
  }

  async #asked(version: Version): Promise<Answer | null> {
    if (version === 'h2') {
      const session = await this.#http2();
      return ask2(session, { ':path': '/' }).catch(() => null);
    }
    const { port } = this.#origin();
    if (!this.#socket || this.#socket.destroyed) {
      this.#socket = await this.#served.pinned.connect(port, 'http/1.1');
    }
    const socket = this.#socket;
    const options = { path: '/', headers: { host: `localhost:${port}` }, maxHeaderSize: MIB };
    const got = await ask1(socket, options).catch(() => null);
    // What is given back is no answer: browsers send it again elsewhere.
    const answer = got?.status === 421 ? null : got;
    if (!answer) socket.destroy();
    return answer;
  }

  async #http2(): Promise<ClientHttp2Session> {
    if (!this.#session || this.#session.closed || this.#session.destroyed) {
      this.#session = await this.#served.pinned.http2(this.#origin().port);
    }
    return this.#session;
  }

  close(): void {
    this.#session?.destroy();
    this.#socket?.destroy();
    this.#session = null;
    this.#socket = null;
  }
}
