import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A program's first line. */
interface Introduction {
  port: number;
  pids?: number[];
}

/** A program beside this one that speaks in lines of JSON, the first of which names its port. */
export class Companion {
  readonly port: number;
  /** The processes that it says it is, if it does. */
  readonly pids: readonly number[];
  readonly #process: ChildProcess;
  readonly #lines: Interface;

  private constructor(process: ChildProcess, lines: Interface, { port, pids = [] }: Introduction) {
    this.#process = process;
    this.#lines = lines;
    this.port = port;
    this.pids = pids;
  }

  /** Starts `proxy-process.ts` or its like. */
  static async start(
    program: string,
    nodeOptions: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Promise<Companion> {
    const path = fileURLToPath(new URL(program, import.meta.url));
    const conditions = path.endsWith('.ts') ? ['--conditions=source'] : [];
    const child = spawn(process.execPath, [...conditions, ...nodeOptions, path], {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface(child.stdout!);
    const [line] = await Promise.race([
      once(lines, 'line'),
      once(child, 'exit').then(([code]) => {
        throw new Error(`${program} ended with ${code}`);
      }),
    ]);
    return new Companion(child, lines, JSON.parse(line) as Introduction);
  }

  /** @param words a line for it; most look for none. */
  async ask<T>(words = ''): Promise<T> {
    const answer = once(this.#lines, 'line');
    this.#process.stdin!.write(`${words}\n`);
    return JSON.parse((await answer)[0]) as T;
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.stdin!.end();
    await ended;
  }
}
