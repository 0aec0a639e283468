import { type ChildProcess, spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { ROOT } from '../setup/programs.mjs';

const BIN = join(ROOT, 'node_modules', '.bin');
/** With the packages' own Node, under which their programs run. */
const PATH = `${BIN}${delimiter}${process.env.PATH}`;

/** The path of a package's program. */
export const packageProgram = (name: string): string => join(BIN, name);

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
  /** Takes the standard output line by line, instead of the terminal. */
  onLine?: (line: string) => void;
}

/**
 * Runs programs one after another. A background lane takes the processor time that the other leaves, and keeps what its programs
 * print until `flush`, so that the two do not mix.
 */
export class Lane {
  readonly #inBackground: boolean;
  #kept: string[] = [];
  #running: ChildProcess | null = null;
  #isStopped = false;

  constructor({ inBackground }: { inBackground: boolean }) {
    this.#inBackground = inBackground;
  }

  /** Prints a line, in its place among what the programs print. */
  say(line: string): void {
    if (this.#inBackground) this.#kept.push(`${line}\n`);
    else console.log(line);
  }

  /** Prints what was kept. */
  flush(): void {
    process.stdout.write(this.#kept.join(''));
    this.#kept = [];
  }

  /** Runs a program. Returns its exit code; never returns once the lane is stopped. */
  run(
    file: string,
    args: readonly string[],
    { cwd = ROOT, env = {}, onLine }: RunOptions = {},
  ): Promise<number> {
    const words = this.#inBackground ? ['nice', '-n', '10', file, ...args] : [file, ...args];
    return new Promise((resolve) => {
      if (this.#isStopped) return;
      const piped = this.#inBackground ? 'pipe' : 'inherit';
      const child = spawn(words[0]!, words.slice(1), {
        cwd,
        env: { ...process.env, PATH, ...env },
        stdio: ['ignore', onLine ? 'pipe' : piped, piped],
      });
      this.#running = child;
      let rest = '';
      child.stdout?.on('data', (chunk) => {
        if (!onLine) {
          this.#kept.push(String(chunk));
          return;
        }
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        lines.forEach(onLine);
      });
      child.stderr?.on('data', (chunk) => this.#kept.push(String(chunk)));
      child.on('error', (error) => {
        this.say(`${file}: ${error.message}`);
        this.#running = null;
        resolve(1);
      });
      child.on('close', (code) => {
        this.#running = null;
        if (this.#isStopped) return;
        if (rest && onLine) onLine(rest);
        resolve(code ?? 1);
      });
    });
  }

  /** Ends what runs as `signal` does, and resolves when it has cleaned up. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    this.#isStopped = true;
    const child = this.#running;
    if (child === null) return;
    child.kill(signal);
    await new Promise((resolve) => child.once('close', resolve));
  }
}
