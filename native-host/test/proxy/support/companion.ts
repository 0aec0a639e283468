import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A program beside this one that speaks in lines of JSON, the first of which names its port. */
export class Companion {
  readonly port: number;
  readonly #process: ChildProcess;
  readonly #lines: Interface;

  private constructor(process: ChildProcess, lines: Interface, port: number) {
    this.#process = process;
    this.#lines = lines;
    this.port = port;
  }

  /** Starts `proxy-process.ts` or its like. */
  static async start(program: string, nodeOptions: string[] = []): Promise<Companion> {
    const path = fileURLToPath(new URL(program, import.meta.url));
    const child = spawn(process.execPath, ['--conditions=source', ...nodeOptions, path], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface(child.stdout!);
    const [line] = await Promise.race([
      once(lines, 'line'),
      once(child, 'exit').then(([code]) => {
        throw new Error(`${program} ended with ${code}`);
      }),
    ]);
    return new Companion(child, lines, (JSON.parse(line) as { port: number }).port);
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
