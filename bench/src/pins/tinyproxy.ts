/** Debian's tinyproxy on a free port of the loopback. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort, listens } from './loopback-port.ts';

const START_TIMEOUT_MS = 5_000;

export class Tinyproxy {
  readonly port: number;
  readonly #process: ChildProcess;

  private constructor(port: number, child: ChildProcess, folder: string) {
    this.port = port;
    this.#process = child;
    // However this program ends.
    process.once('exit', () => {
      child.kill();
      rmSync(folder, { recursive: true, force: true });
    });
  }

  /** @returns null where it is not installed. */
  static async start(): Promise<Tinyproxy | null> {
    const folder = mkdtempSync(join(tmpdir(), 'hopwise-tinyproxy-'));
    const port = await freePort();
    const configuration = join(folder, 'tinyproxy.conf');
    const lines = [
      `Port ${port}`,
      'Listen 127.0.0.1',
      'MaxClients 100',
      'LogLevel Critical',
      'LogFile "/dev/null"',
    ];
    writeFileSync(configuration, [...lines, ''].join('\n'));
    const child = spawn('tinyproxy', ['-d', '-c', configuration], { stdio: 'ignore' });
    const tinyproxy = new Tinyproxy(port, child, folder);
    const missing = once(child, 'error').then(() => true);
    return (await Promise.race([missing, tinyproxy.#listening().then(() => false)])) ? null : tinyproxy;
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.kill();
    await ended;
  }

  async #listening(): Promise<void> {
    for (
      const deadline = performance.now() + START_TIMEOUT_MS;
      performance.now() < deadline;
      await wait(20)
    ) {
      if (await listens(this.port)) return;
    }
    throw new Error(`tinyproxy does not listen on port ${this.port}`);
  }
}
