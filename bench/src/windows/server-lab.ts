/** The lab with nginx, an agent beside it, and clients with addresses in many prefixes. */
import { type ChildProcess, type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Lab } from '@hopwise/lab/client/lab';
import type { LabNetwork } from '@hopwise/lab/client/networks';
import { nginxProgram } from '@hopwise/lab/client/nginx';
import { writeSite } from '@hopwise/lab/sites/write-site';
import { LOG_FORMAT } from '@hopwise/server/log/access-log';
import { flowSite } from '../flows/flow-lab.ts';

const run = promisify(execFile);
export const AGENT = fileURLToPath(new URL('../../../server/bin/hopwise-server.ts', import.meta.url));
const CLIENT = fileURLToPath(new URL('client-main.ts', import.meta.url));
/** A connection is closed for good a little after the client has seen its end. */
const CLOSING_MS = 15;

export class ServerLab {
  readonly #lab: Lab;
  readonly #serverPid: number;
  readonly folder: string;
  readonly #nginx: ChildProcess;
  readonly #client: ChildProcessByStdio<Writable, Readable, null>;
  readonly #waiting = new Map<number, (answer: { ms?: number; error?: string }) => void>();
  #requests = 0;

  private constructor(
    lab: Lab,
    serverPid: number,
    folder: string,
    nginx: ChildProcess,
    client: ChildProcessByStdio<Writable, Readable, null>,
  ) {
    this.#lab = lab;
    this.#serverPid = serverPid;
    this.folder = folder;
    this.#nginx = nginx;
    this.#client = client;
    createInterface({ input: client.stdout }).on('line', (line) => {
      const answer: { id: number; ms?: number; error?: string } = JSON.parse(line);
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
  }

  /**
   * @param folder empty; nginx's log and files are there
   * @param clients addresses
   * @param sizes of the files, bytes, whose paths are their sizes
   */
  static async up(
    folder: string,
    network: LabNetwork,
    clients: readonly string[],
    sizes: readonly number[],
  ): Promise<ServerLab> {
    const site = join(folder, 'site');
    await writeSite({ site: flowSite([1000]), files: new Map() }, site);
    const lab = await Lab.up({ site, network });
    try {
      const serverPid = await findServer(lab.holderPid);
      const inServer = ['-t', String(serverPid), '-n', '--'];
      const batch = async (enter: string[], lines: string[]) => {
        const child = run('nsenter', [...enter, 'ip', '-batch', '-']);
        child.child.stdin!.end(`${lines.join('\n')}\n`);
        await child;
      };
      // The link carries packets of the lab's servers alone; nginx takes a port that none of them has.
      const { address } = lab.origins[0]!;
      await batch(inServer, ['route add default dev lab0 congctl cubic']);
      const inClient = ['-t', String(lab.holderPid), '-n', '--'];
      await batch(
        inClient,
        clients.map((client) => `addr add ${client}/32 dev lab0`),
      );
      for (const size of sizes) await writeFile(join(folder, String(size)), Buffer.alloc(size, 7));
      const nginx = await startNginx(folder, address, inServer);
      const client = spawn('nsenter', [...inClient, process.execPath, CLIENT], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      return new ServerLab(lab, serverPid, folder, nginx, client);
    } catch (error) {
      await lab.down();
      throw error;
    }
  }

  get log(): string {
    return join(this.folder, 'access.log');
  }

  /** Runs a program in the servers' namespace. */
  async inServer(words: readonly string[]): Promise<string> {
    return (await run('nsenter', ['-t', String(this.#serverPid), '-n', '--', ...words])).stdout;
  }

  /** What an agent here answers. @param client that it is asked about, if any */
  askAgent(port: number, path: string, client = ''): Promise<string> {
    const headers = client === '' ? '{}' : `{'hopwise-client': '${client}'}`;
    const script = `fetch('http://127.0.0.1:${port}${path}', {headers: ${headers}}).then((r) => r.text()).then(console.log)`;
    return this.inServer([process.execPath, '-e', script]);
  }

  /** Starts an agent that learns here. @param words before its own, such as those of a shell around it */
  async startAgent(options: readonly string[], words: readonly string[] = []): Promise<RunningAgent> {
    const own = ['run', '--log', this.log, '--server-ports', '80', ...options];
    const command = [...words, process.execPath, '--conditions=source', AGENT, ...own];
    const child = spawn('nsenter', ['-t', String(this.#serverPid), '-n', '--', ...command], {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const agent = new RunningAgent(child);
    await agent.said(/: reads /);
    return agent;
  }

  configure(network: LabNetwork): Promise<void> {
    return this.#lab.configure(network);
  }

  /** Requests a file over a new connection. @returns milliseconds from the request to the last byte */
  async request(from: string, size: number): Promise<number> {
    const id = this.#requests++;
    const answered = new Promise<{ ms?: number; error?: string }>((resolve) =>
      this.#waiting.set(id, resolve),
    );
    this.#client.stdin.write(
      `${JSON.stringify({ id, from, to: this.#lab.origins[0]!.address, path: `/${size}` })}\n`,
    );
    const { ms, error } = await answered;
    if (ms === undefined) throw new Error(`request from ${from}: ${error}`);
    await new Promise((resolve) => setTimeout(resolve, CLOSING_MS));
    return ms;
  }

  async down(): Promise<void> {
    const ended = [this.#client, this.#nginx].map((child) => child.exitCode === null && once(child, 'exit'));
    this.#client.kill();
    this.#nginx.kill();
    await Promise.all(ended);
    await this.#lab.down();
  }
}

/** A process of the agent, with what it has printed. */
export class RunningAgent {
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #ended: Promise<unknown>;
  text = '';

  constructor(child: ChildProcessByStdio<null, Readable, Readable>) {
    this.#child = child;
    this.#ended = once(child, 'close');
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part) => {
        this.text += part;
      });
  }

  /** Waits until it has printed this. @throws Error where it ends before */
  async said(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.text)) {
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) throw new Error(this.text);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Ends it and the programs that it runs, as a terminal's Ctrl-C does. @returns its exit code */
  async interrupt(): Promise<number | null> {
    process.kill(-this.#child.pid!, 'SIGINT');
    await this.#ended;
    return this.#child.exitCode;
  }

  /** Ends it. @returns its exit code, null after SIGKILL */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.#child.kill(signal);
    await this.#ended;
    return this.#child.exitCode;
  }
}

/** The lab's process in the servers' namespace, beside the one that holds the client's. */
async function findServer(holderPid: number): Promise<number> {
  const status = await readFile(`/proc/${holderPid}/status`, 'utf8');
  const parent = /^PPid:\t(\d+)$/m.exec(status)![1]!;
  for (const thread of await readdir(`/proc/${parent}/task`)) {
    const children = await readFile(`/proc/${parent}/task/${thread}/children`, 'utf8');
    for (const pid of children.split(' ').filter(Boolean))
      if ((await readFile(`/proc/${pid}/cmdline`, 'utf8')).includes('_serve')) return Number(pid);
  }
  throw new Error('the lab has no process in the namespace of its servers');
}

async function startNginx(folder: string, address: string, enter: readonly string[]): Promise<ChildProcess> {
  const { program, libraries } = await nginxProgram();
  const format = LOG_FORMAT.replace(/access_log \S+/, `access_log ${folder}/access.log`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const config = join(folder, 'nginx.conf');
  await writeFile(
    config,
    `daemon off; master_process off; user root root; pid ${folder}/nginx.pid; error_log stderr warn;
events { worker_connections 1024; }
http {
${temporary.map((name) => `${name}_temp_path ${folder}/temp;`).join(' ')}
${format}
server { listen ${address}:80; root ${folder}; }
}
`,
  );
  const child = spawn('nsenter', [...enter, program, '-e', 'stderr', '-p', folder, '-c', config], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...(libraries && { LD_LIBRARY_PATH: libraries }) },
  });
  const isReady = async () => (await readFile(join(folder, 'nginx.pid'), 'utf8').catch(() => '')) !== '';
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error('nginx did not start');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return child;
}
