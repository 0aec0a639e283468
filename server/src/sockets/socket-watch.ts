import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { ProgramKilled, runProgram } from '../util/run-program.ts';
import { parseSocket, type SocketInfo } from './socket-info.ts';

/** Hears from the kernel of every connection of the server that ends, with its counts, and reads the open ones on request. */
export class SocketWatch {
  readonly #ports: ReadonlySet<number>;
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;
  #problem: Error | null = null;

  /** @param onEnded is called for every connection at its end */
  constructor(ports: ReadonlySet<number>, onEnded: (socket: SocketInfo) => void) {
    this.#ports = ports;
    // ss collects its output in blocks where no terminal reads it.
    const words = ['-oL', 'ss', '-E', '-tinHO'];
    this.#process = spawn('stdbuf', words, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    createInterface({ input: this.#process.stdout! }).on('line', (line) => {
      const socket = parseSocket(line, ports);
      if (socket !== null) onEnded(socket);
    });
    let said = '';
    createInterface({ input: this.#process.stderr! }).once('line', (line) => {
      said = line;
    });
    this.#ended = once(this.#process, 'close').then(
      ([, signal]: unknown[]) => {
        this.#problem =
          signal === null
            ? new Error(`ss ended: ${said || 'without a message'}`)
            : new ProgramKilled(`ss ended by ${signal}`);
      },
      (error: Error) => {
        this.#problem = new Error(`ss could not be started: ${error.message}`);
      },
    );
  }

  /** The open connections. @throws ProgramKilled; Error where the kernel's socket diagnostics do not work */
  async readOpen(): Promise<SocketInfo[]> {
    if (this.#problem !== null) throw this.#problem;
    const printed = await runProgram(['ss', '-tinHO']);
    return printed.split('\n').flatMap((line) => parseSocket(line, this.#ports) ?? []);
  }

  async close(): Promise<void> {
    this.#process.kill();
    await this.#ended;
  }
}
