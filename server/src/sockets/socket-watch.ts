import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { parseSocket, type SocketInfo } from './socket-info.ts';

const run = promisify(execFile);

/** Hears from the kernel of every connection of the server that ends, with its counts, and reads the open ones on request. */
export class SocketWatch {
  readonly #ports: ReadonlySet<number>;
  readonly #process: ChildProcess;
  #problem: string | null = null;

  /** @param onEnded is called for every connection at its end */
  constructor(ports: ReadonlySet<number>, onEnded: (socket: SocketInfo) => void) {
    this.#ports = ports;
    // ss collects its output in blocks where no terminal reads it.
    this.#process = spawn('stdbuf', ['-oL', 'ss', '-E', '-tinHO'], { stdio: ['ignore', 'pipe', 'pipe'] });
    createInterface({ input: this.#process.stdout! }).on('line', (line) => {
      const socket = parseSocket(line, ports);
      if (socket !== null) onEnded(socket);
    });
    let said = '';
    this.#process.stderr!.on('data', (text) => {
      said = `${said}${text}`.slice(0, 200);
    });
    this.#process.on('error', (error) => {
      this.#problem = `ss could not be started: ${error.message}`;
    });
    this.#process.on('exit', () => {
      this.#problem ??= `ss ended: ${said.trim().split('\n')[0] || 'without a message'}`;
    });
  }

  /** The open connections. @throws Error where the kernel's socket diagnostics do not work */
  async readOpen(): Promise<SocketInfo[]> {
    if (this.#problem !== null) throw new Error(this.#problem);
    const { stdout } = await run('ss', ['-tinHO'], { maxBuffer: 2 ** 28 });
    return stdout.split('\n').flatMap((line) => parseSocket(line, this.#ports) ?? []);
  }

  async close(): Promise<void> {
    this.#problem ??= 'ss was stopped';
    const { exitCode, signalCode, pid } = this.#process;
    if (exitCode !== null || signalCode !== null || pid === undefined) return;
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill();
    await ended;
  }
}
