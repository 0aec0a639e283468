/**
 * Origins that answer with anything: the browser gets the right response or a broken one, never one that is wrongly complete, and what
 * follows on the same connection is right.
 */
import { mkdtempSync, readFileSync } from 'node:fs';
import type { ClientHttp2Session } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, ask1, ask2, Pinned } from '../terminating/support/pinned.ts';
import { HostileOrigin } from './support/hostile-origin.ts';
import { type Case, HTTP1_CASES, RIGHT } from './support/http1-cases.ts';
import { HTTP2_CASES } from './support/http2-cases.ts';

const MIB = 1024 * 1024;
/** A broken answer is to be seen by then, its repetitions with it. */
const LIMIT_MS = 8_000;
const SEED = 20_261_122;
const RUNS = 60;

let folder: string;
let before: number;
let pinned: Pinned;
const origins = {} as Record<'h1' | 'h2', HostileOrigin>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-conformance-'));
  pinned = await Pinned.start(folder, []);
  for (const protocol of ['h1', 'h2'] as const) {
    origins[protocol] = await HostileOrigin.listen(pinned.origins, protocol);
  }
  before = await resident();
});

afterAll(async () => {
  await pinned.stop(folder);
  await Promise.all(Object.values(origins).map((origin) => origin.close()));
});

/** A browser with a connection of each HTTP version, which opens new ones and pins anew where it has to. */
class Browser {
  readonly #protocol: 'h1' | 'h2';
  #session: ClientHttp2Session | null = null;
  #socket: TLSSocket | null = null;

  constructor(protocol: 'h1' | 'h2') {
    this.#protocol = protocol;
  }

  /** @returns null for a response that is broken. */
  async ask(version: 'h1' | 'h2', path: string, method = 'GET'): Promise<Answer | null> {
    const { port } = origins[this.#protocol];
    if (pinned.terminating.route('localhost', port).kind !== 'terminate') {
      this.close();
      const origin = origins[this.#protocol];
      origin.isAsked = false;
      await pinned.pin(port, this.#protocol);
      origin.isAsked = true;
    }
    let asked: Promise<Answer>;
    if (version === 'h2') {
      if (!this.#session || this.#session.closed || this.#session.destroyed) {
        this.#session = await pinned.http2(port);
      }
      asked = ask2(this.#session, { ':path': path, ':method': method });
    } else {
      if (!this.#socket || this.#socket.destroyed) this.#socket = await pinned.connect(port, 'http/1.1');
      const headers = { host: `localhost:${port}` };
      asked = ask1(this.#socket, { path, method, headers, maxHeaderSize: MIB });
    }
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(
        () => reject(new Error(`no end of it over ${version} within ${LIMIT_MS} ms: ${path}`)),
        LIMIT_MS,
      );
    });
    try {
      const got = await Promise.race([asked, late]);
      // Given back: browsers send it again elsewhere.
      if (got.status !== 421) return got;
      this.#socket?.destroy();
      return null;
    } catch (fault) {
      if ((fault as Error).message.startsWith('no end')) {
        this.close();
        throw fault;
      }
      if (version === 'h1') this.#socket!.destroy();
      return null;
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#session?.destroy();
    this.#socket?.destroy();
    this.#session = null;
    this.#socket = null;
  }
}

/** Bytes of this process, the proxy's, and of the engine's. */
async function resident(): Promise<number> {
  const pids = [process.pid, (await pinned.engine.pid())!];
  const each = pids.map((pid) => /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
  return each.reduce((sum, kib) => sum + Number(kib) * 1024, 0);
}

async function hold(
  browser: Browser,
  origin: HostileOrigin,
  version: 'h1' | 'h2',
  one: Case,
  good: Case,
): Promise<void> {
  origin.answer = one;
  const got = await browser.ask(version, '/hostile');
  const body = got?.body.toString('latin1');
  expect(one.right.map((each) => each?.slice(0, 200) ?? null)).toContain(body?.slice(0, 200) ?? null);
  if (got) {
    expect(one.right.map((each) => each?.length)).toContain(got.body.length);
    expect(got.status).toBe(one.status ?? 200);
  }
  origin.answer = good;
  expect((await browser.ask(version, '/well'))?.body.toString()).toBe(RIGHT);
}

const mutation = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  byte: fc.nat(255),
  how: fc.constantFrom('set', 'insert', 'drop'),
});

function mutated(bytes: Buffer, { at, byte, how }: { at: number; byte: number; how: string }): Buffer {
  const index = Math.min(bytes.length, Math.floor(at * bytes.length));
  const middle = how === 'drop' ? [] : [byte];
  return Buffer.concat([
    bytes.subarray(0, index),
    Buffer.from(middle),
    bytes.subarray(how === 'insert' ? index : index + 1),
  ]);
}

describe.each([
  ['h1', HTTP1_CASES],
  ['h2', HTTP2_CASES],
] as const)('an answer over %s', (protocol, cases) => {
  const browser = new Browser(protocol);
  afterAll(() => browser.close());

  it.each(cases.map((one) => [one.name, one] as const))('%s', async (_name, one) => {
    for (const version of ['h1', 'h2'] as const) {
      await hold(browser, origins[protocol], version, one, cases[0]!);
    }
  });

  it.runIf(protocol === 'h1')('with changed bytes does not touch the next one', async () => {
    const short = cases.filter(({ pieces, endless }) => !endless && Buffer.concat(pieces).length < 10_000);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...short),
        fc.constantFrom('h1', 'h2'),
        fc.array(mutation, { minLength: 1, maxLength: 4 }),
        async ({ pieces }, version, mutations) => {
          const origin = origins[protocol];
          origin.answer = { pieces: [mutations.reduce(mutated, Buffer.concat(pieces))], after: 'end' };
          await browser.ask(version, '/hostile');
          origin.answer = cases[0]!;
          expect((await browser.ask(version, '/well'))?.body.toString()).toBe(RIGHT);
        },
      ),
      { seed: SEED, numRuns: RUNS },
    );
  });
});

it('leaves nothing in memory', async () => {
  expect((await resident()) - before).toBeLessThan(96 * MIB);
});
