/** mitmdump on a free port of the loopback, with a CA of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort, listens } from './loopback-port.ts';

const START_TIMEOUT_MS = 20_000;

export class Mitmproxy {
  readonly port: number;
  /** PEM of what it signs with. */
  readonly root: string;
  readonly #process: ChildProcess;
  readonly #folder: string;

  private constructor(port: number, root: string, process: ChildProcess, folder: string) {
    this.port = port;
    this.root = root;
    this.#process = process;
    this.#folder = folder;
  }

  /**
   * @param bundle what it trusts.
   * @returns null where it is not installed.
   */
  static async start(bundle: string): Promise<Mitmproxy | null> {
    const folder = mkdtempSync(join(tmpdir(), 'hopwise-mitmproxy-'));
    const port = await freePort();
    const child = spawn(
      'mitmdump',
      [
        ...['--quiet', '--listen-host', '127.0.0.1', '--listen-port', String(port)],
        ...['--set', `confdir=${folder}`, '--set', `ssl_verify_upstream_trusted_ca=${bundle}`],
        // Bodies pass as they come, as they do here.
        ...['--set', 'stream_large_bodies=1'],
      ],
      { stdio: 'ignore' },
    );
    const missing = once(child, 'error').then(() => true);
    const root = join(folder, 'mitmproxy-ca-cert.pem');
    const listening = async (): Promise<boolean> => {
      const deadline = performance.now() + START_TIMEOUT_MS;
      while (!existsSync(root) || !(await listens(port))) {
        if (performance.now() > deadline) throw new Error(`mitmdump does not listen on port ${port}`);
        await wait(50);
      }
      return false;
    };
    if (await Promise.race([missing, listening()])) {
      rmSync(folder, { recursive: true });
      return null;
    }
    return new Mitmproxy(port, readFileSync(root, 'utf8'), child, folder);
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.kill();
    await ended;
    rmSync(this.#folder, { recursive: true });
  }
}
