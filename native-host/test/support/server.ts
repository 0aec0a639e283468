import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Protocol, TransferPlan } from '@hopwise/contract';

/** What a request says of its protocol. */
export const PROTO: Record<Protocol, string> = { h1: 'HTTP/1.1', h2: 'HTTP/2.0', h3: 'HTTP/3.0' };

/** One request as the server saw it. */
interface SeenRequest {
  proto: string;
  path: string;
  client: string;
  host: string;
  atMs: number;
  priority: string;
  accept: string;
  encoding: string;
  agent: string;
  cookie: string;
  method: string;
  range: string;
  ifRange: string;
}

const SOURCE = fileURLToPath(new URL('../server', import.meta.url));
/** Kept, so that it is built anew only after a change: a look by Go takes as long as a small test. */
const PROGRAM = fileURLToPath(new URL('../../dist/test-server', import.meta.url));

function isOlderThanSource(): boolean {
  const built = statSync(PROGRAM, { throwIfNoEntry: false });
  return !built || readdirSync(SOURCE).some((name) => statSync(join(SOURCE, name)).mtimeMs >= built.mtimeMs);
}

function build(): void {
  // In a place of its own: another test may be about to start the program.
  const made = `${PROGRAM}.${process.pid}`;
  // As the lab is built, so that what both are made of is compiled once.
  execFileSync('go', ['build', '-trimpath', '-o', made, '.'], {
    cwd: SOURCE,
    env: { ...process.env, CGO_ENABLED: '0' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  renameSync(made, PROGRAM);
}

/** Stops a process. The signal takes effect when each of its threads next has a processor, which takes a while on a busy machine. */
export function stopProcess(pid: number): void {
  process.kill(pid, 'SIGSTOP');
  const deadline = performance.now() + 10_000;
  while (!isStopped(pid)) {
    if (performance.now() > deadline) throw new Error(`process ${pid} does not stop`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
}

/** Whether all threads of a process are stopped (proc(5), stat, state `T`). */
export function isStopped(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).every((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
  });
}

/** The Go server of `test/server`. */
export class ServerProgram {
  readonly folder = mkdtempSync(join(tmpdir(), 'hopwise-native-host-'));

  constructor() {
    if (isOlderThanSource()) build();
  }

  async start(...args: string[]): Promise<Server> {
    return Server.start(PROGRAM, join(this.folder, `ca-${performance.now()}.pem`), args);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A running server: HTTP/1.1, HTTP/2 and HTTP/3 on one loopback port. */
export class Server {
  readonly port: number;
  readonly caFile: string;
  readonly #process: ChildProcess;
  readonly #requests: SeenRequest[];
  /** Called by the lines that confirm scripts, in order. */
  readonly #confirmed: (() => void)[];

  private constructor(
    port: number,
    caFile: string,
    child: ChildProcess,
    { requests, confirmed }: { requests: SeenRequest[]; confirmed: (() => void)[] },
  ) {
    this.port = port;
    this.caFile = caFile;
    this.#process = child;
    this.#requests = requests;
    this.#confirmed = confirmed;
  }

  static async start(program: string, caFile: string, args: string[]): Promise<Server> {
    const child = spawn(program, ['-ca', caFile, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    // A failed test may leave it stopped: it would then outlive this process, and keep its standard error open.
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.off('exit', kill));
    const requests: SeenRequest[] = [];
    const confirmed: (() => void)[] = [];
    const port = await new Promise<number>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`the test server ended with ${code}`)));
      createInterface(child.stdout!).on('line', (line) => {
        const value = JSON.parse(line) as SeenRequest & { port?: number; set?: true };
        if (value.port) resolve(value.port);
        else if (value.set) confirmed.shift()!();
        else requests.push(value);
      });
    });
    return new Server(port, caFile, child, { requests, confirmed });
  }

  /** Gives a script to the server, which goes by it from then on. */
  async set(script: unknown): Promise<void> {
    const set = new Promise<void>((resolve) => this.#confirmed.push(resolve));
    this.#process.stdin!.write(`${JSON.stringify(script)}\n`);
    await set;
  }

  /** From now on the answers to requests with `?held` wait for `release`. */
  hold(): Promise<void> {
    return this.set({ holds: true });
  }

  /** Lets the answers that wait go, and later ones at once. */
  release(): Promise<void> {
    return this.set({ holds: false });
  }

  /** The certificate of its CA. */
  get root(): string {
    return readFileSync(this.caFile, 'utf8');
  }

  url(path: string, host = 'localhost'): string {
    return `https://${host}:${this.port}${path}`;
  }

  /**
   * What has been asked for since the last call, once its number is `atLeast`. The server reports a request a moment after its
   * client has the response: those of before may come among them.
   *
   * @param wanted what counts, and is returned, of their paths
   */
  async seen(atLeast = 0, wanted = (_path: string) => true): Promise<SeenRequest[]> {
    const deadline = performance.now() + 20_000;
    const those = () => this.#requests.filter(({ path }) => wanted(path));
    while (those().length < atLeast && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const seen = those();
    this.#requests.length = 0;
    return seen;
  }

  /** Stops the server like a machine that hangs: after this call it answers nothing any more. */
  hang(): void {
    stopProcess(this.#process.pid!);
  }

  async stop(): Promise<void> {
    this.#process.kill('SIGCONT');
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.stdin!.end();
    await ended;
  }
}

/** One CA bundle for several servers. */
export function bundle(servers: readonly Server[]): string {
  return servers.map(({ root }) => root).join('');
}

/** A plan of GETs that all wait for the first one. */
export function planOf(urls: string[]): TransferPlan {
  return {
    pageUrl: urls[0]!,
    userAgent: 'hopwise-test/1',
    transfers: urls.map((url, index) => ({
      url,
      after: index === 0 ? [] : [0],
      delayMs: 0,
      urgency: 3,
      incremental: false,
      accept: '*/*',
      bytes: 0,
    })),
  };
}
