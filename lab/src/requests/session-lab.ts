/** A lab of one server stack, with a helper and its client in the lab's namespaces, that runs sessions one after the other. */
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, symlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { extname, isAbsolute, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as z from 'zod';
import { Lab } from '../client/lab.ts';
import { EASY_NETWORK } from '../client/networks.ts';
import type { ServerStack } from '../client/server-stack.ts';
import { writeSite } from '../sites/write-site.ts';
import { conditionSite } from './condition-site.ts';
import { type Condition, ORIGIN } from './draw-condition.ts';
import { clientLineSchema, type SessionOrder, type SessionResult, type SessionTransport } from './session.ts';

const CLIENT = fileURLToPath(new URL(`client-main${extname(import.meta.url)}`, import.meta.url));
/** As browsers do over HTTP/1.1, so that both transports get the requests in the same order. */
const PARALLEL = 6;
const SESSION_LIMIT_MS = 15_000;

const createdSchema = z.object({ root: z.string() });

export interface MeasuredSession {
  result: SessionResult;
  /** When each network of the change began, in milliseconds since the session's first request. */
  changedMs: number[];
  /** Share of packets that the link handed over at least 1 ms late: how far the machine was too busy. */
  lateShare: number;
}

interface SessionLabOptions {
  stack: ServerStack;
  /** A scratch folder of its own. */
  dir: string;
  /** The helper's script. */
  helper: string;
  first: Condition;
  signal: AbortSignal;
}

export class SessionLab {
  readonly #lab: Lab;
  readonly #stack: ServerStack;
  readonly #dir: string;
  readonly #client: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  readonly #closed: Promise<unknown>;

  private constructor(lab: Lab, stack: ServerStack, dir: string, client: ChildProcessWithoutNullStreams) {
    this.#lab = lab;
    this.#stack = stack;
    this.#dir = dir;
    this.#client = client;
    this.#lines = createInterface({ input: client.stdout })[Symbol.asyncIterator]();
    this.#closed = once(client, 'close');
    // Its end shows in its output.
    client.stdin.on('error', () => {});
    client.on('error', () => {});
  }

  static async up({ stack, dir, helper, first, signal }: SessionLabOptions): Promise<SessionLab> {
    const data = join(dir, 'data');
    const env = { ...process.env, XDG_DATA_HOME: data, XDG_STATE_HOME: join(dir, 'state') };
    await shareLibcurl(data);
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [helper, 'ca', 'create', ORIGIN, '--json'],
      { env },
    );
    const { root } = createdSchema.parse(JSON.parse(stdout));
    const site = join(dir, 'site');
    await writeSite(conditionSite(first, stack), site);
    const lab = await Lab.up({ site, network: EASY_NETWORK, stack, dir: join(dir, 'lab'), signal });
    const [program = '', ...words] = lab.enterCommand([process.execPath, CLIENT, helper, root, lab.caFile]);
    const client = spawn(program, words, {
      env: { ...env, HOPWISE_CA_FILE: lab.caFile },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    client.stderr.pipe(process.stderr);
    return new SessionLab(lab, stack, dir, client);
  }

  /** Runs a session with new connections. */
  async run(condition: Condition, transport: SessionTransport): Promise<MeasuredSession> {
    const { before, after, requests, changesBefore } = condition;
    const site = join(this.#dir, 'site');
    await writeSite(conditionSite(condition, this.#stack), site);
    // Also closes the connections of the session before.
    await this.#lab.serve(site);
    await this.#lab.drain();
    await this.#lab.configure(before);
    await this.#lab.resetStats();
    const order: SessionOrder = {
      origin: ORIGIN,
      transport,
      requests,
      parallel: PARALLEL,
      changesBefore,
      limitMs: SESSION_LIMIT_MS,
    };
    const changedAtMs: number[] = [];
    const stop = new AbortController();
    let changing = Promise.resolve();
    try {
      this.#write(JSON.stringify(order));
      for (;;) {
        const line = await this.#nextLine();
        if ('error' in line) throw new Error(line.error);
        if ('result' in line) {
          stop.abort();
          await changing;
          const changedMs = changedAtMs.map((atMs) => atMs - line.result.beganAtMs);
          return { result: line.result, changedMs, lateShare: await this.#lateShare() };
        }
        const [first, ...later] = after;
        if (first !== undefined) {
          await this.#lab.configure(first.network);
          changedAtMs.push(Date.now());
          changing = this.#changeLater(first.forMs, later, changedAtMs, stop.signal);
        }
        this.#write('');
      }
    } finally {
      stop.abort();
      await changing;
      await this.#lab.configure(EASY_NETWORK);
    }
  }

  async down(): Promise<void> {
    this.#client.stdin.end();
    const killer = setTimeout(() => this.#client.kill('SIGKILL'), 10_000);
    await this.#closed;
    clearTimeout(killer);
    await this.#lab.down();
  }

  async #changeLater(
    forMs: number | null,
    steps: Condition['after'],
    changedAtMs: number[],
    signal: AbortSignal,
  ): Promise<void> {
    const [next, ...later] = steps;
    if (forMs === null || next === undefined) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, forMs);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    });
    if (signal.aborted) return;
    await this.#lab.configure(next.network);
    changedAtMs.push(Date.now());
    await this.#changeLater(next.forMs, later, changedAtMs, signal);
  }

  async #lateShare(): Promise<number> {
    const { down, up } = await this.#lab.stats();
    const packets = down.delivered + up.delivered;
    return packets === 0 ? 0 : (down.latePackets + up.latePackets) / packets;
  }

  #write(line: string): void {
    this.#client.stdin.write(`${line}\n`);
  }

  async #nextLine(): Promise<z.infer<typeof clientLineSchema>> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('the client of the sessions has ended');
    return clientLineSchema.parse(JSON.parse(value));
  }
}

/** Lets a helper with a data folder of its own find the libcurl that was set up for this user. */
async function shareLibcurl(data: string): Promise<void> {
  const given = process.env.XDG_DATA_HOME;
  const own = join(given && isAbsolute(given) ? given : join(homedir(), '.local/share'), 'hopwise/libcurl');
  await mkdir(join(data, 'hopwise'), { recursive: true });
  // Without one the helper looks in the system.
  if ((await readdir(own).catch(() => [])).length > 0) await symlink(own, join(data, 'hopwise/libcurl'));
}
