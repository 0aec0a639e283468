import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Protocol, TransferPlan } from '@hopwise/native-host/messages';

/** What a request says of its protocol. */
export const PROTO: Record<Protocol, string> = { h1: 'HTTP/1.1', h2: 'HTTP/2.0', h3: 'HTTP/3.0' };

/** One request as the server saw it. */
export interface SeenRequest {
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
}

const SOURCE = fileURLToPath(new URL('../server', import.meta.url));
/** Kept, so that it is linked anew only after a change. */
const PROGRAM = fileURLToPath(new URL('../../dist/test-server', import.meta.url));

/** The Go server of `test/server`. */
export class ServerProgram {
  readonly folder = mkdtempSync(join(tmpdir(), 'hopwise-native-host-'));

  constructor() {
    // As the lab is built, so that what both are made of is compiled once.
    execFileSync('go', ['build', '-trimpath', '-o', PROGRAM, '.'], {
      cwd: SOURCE,
      env: { ...process.env, CGO_ENABLED: '0' },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
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

  private constructor(port: number, caFile: string, process: ChildProcess, requests: SeenRequest[]) {
    this.port = port;
    this.caFile = caFile;
    this.#process = process;
    this.#requests = requests;
  }

  static async start(program: string, caFile: string, args: string[]): Promise<Server> {
    const child = spawn(program, ['-ca', caFile, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    const requests: SeenRequest[] = [];
    const port = await new Promise<number>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`the test server ended with ${code}`)));
      createInterface(child.stdout!).on('line', (line) => {
        const value = JSON.parse(line) as SeenRequest & { port?: number };
        if (value.port) resolve(value.port);
        else requests.push(value);
      });
    });
    return new Server(port, caFile, child, requests);
  }

  /** The certificate of its CA. */
  get root(): string {
    return readFileSync(this.caFile, 'utf8');
  }

  url(path: string, host = 'localhost'): string {
    return `https://${host}:${this.port}${path}`;
  }

  /** What has been asked for since the last call, once its number is `atLeast`. */
  async seen(atLeast = 0): Promise<SeenRequest[]> {
    const deadline = performance.now() + 20_000;
    while (this.#requests.length < atLeast && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return this.#requests.splice(0);
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.stdin!.end();
    await ended;
  }
}

/** One CA bundle for several servers. */
export function bundle(servers: Server[]): string {
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
