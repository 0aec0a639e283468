/** Injects faults into the host of a real browser, and repairs it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, openSync, rmSync, symlinkSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { hopwiseHost } from '../../../../native-host/test/support/command.ts';
import { privateLibcurl } from '../../../../native-host/test/support/private-libcurl.ts';
import { bundle, type Server } from '../../../../native-host/test/support/server.ts';
import { TestHost } from '../host.ts';

const HOOKS = fileURLToPath(new URL('../../../../native-host/test/faults/host-hooks.ts', import.meta.url));

/** The plan's faults that need no part of the browser and leave its clock unchanged. */
export const HARMS = [
  'engine-killed',
  'engine-stopped',
  'engine-garbage',
  'host-killed',
  'host-stopped',
  'frame-garbage',
  'disk-full',
  'ca-removed',
  'clock-days',
] as const;
export type Harm = (typeof HARMS)[number];

/** After the end of every pin, but within the validity of the local CA's certificates on the browser's clock. */
const CLOCK_MS = 20 * 3_600_000;
/** A message length beyond the browser's limit. */
const GARBAGE = Buffer.alloc(64, 0xff);

export class HarmedHost {
  readonly host = new TestHost();
  readonly #state = join(this.host.folder, 'state', 'hopwise');
  readonly #authority = join(this.host.folder, 'data', 'hopwise', 'ca');
  readonly #clock = join(this.host.folder, 'clock');
  #isHarmed = false;
  readonly #sound = join(this.host.folder, 'sound-ca');

  /**
   * @param origin origin covered by the local CA
   * @param servers servers that engine and browser trust
   */
  static async create(origin: string, servers: readonly Server[]): Promise<HarmedHost> {
    const harmed = new HarmedHost();
    const { host } = harmed;
    const caFile = join(host.folder, 'origins.pem');
    writeFileSync(caFile, bundle(servers));
    Object.assign(host.env, {
      HOME: host.folder,
      XDG_DATA_HOME: join(host.folder, 'data'),
      HOPWISE_CA_FILE: caFile,
      HOPWISE_LIBCURL: await privateLibcurl(),
      HOPWISE_TEST_CLOCK: harmed.#clock,
      NODE_OPTIONS: `${host.env.NODE_OPTIONS} --import=${HOOKS}`,
    });
    const store = join(host.folder, '.pki', 'nssdb');
    mkdirSync(store, { recursive: true });
    const certutil = (...words: string[]): void => {
      execFileSync('certutil', [...words, '-d', `sql:${store}`]);
    };
    certutil('-N', '--empty-password');
    for (const { port, caFile } of servers) certutil('-A', '-n', `origin ${port}`, '-t', 'C,,', '-i', caFile);
    for (const words of [['create', origin], ['trust']]) {
      const { code, err } = hopwiseHost(host.folder, ['ca', ...words]);
      if (code !== 0) throw new Error(err);
    }
    copyPrivate(harmed.#authority, harmed.#sound);
    return harmed;
  }

  /** @param lastsMs duration of a temporary fault */
  injectFault(fault: Harm, lastsMs: number): void {
    this.#isHarmed ||= !fault.startsWith('engine-');
    switch (fault) {
      case 'engine-killed':
        this.#signal(this.host.engines(), 'SIGKILL');
        break;
      case 'engine-stopped': {
        const engines = this.host.engines();
        this.#signal(engines, 'SIGSTOP');
        setTimeout(() => this.#signal(engines, 'SIGCONT'), lastsMs);
        break;
      }
      case 'engine-garbage':
        this.#signal(this.host.engines(), 'SIGUSR2');
        break;
      case 'host-killed':
        this.#signal(this.host.running(), 'SIGKILL');
        break;
      case 'host-stopped':
        this.#signal(this.host.running(), 'SIGSTOP');
        break;
      case 'frame-garbage':
        // Its standard input is a pipe, which other processes can write to.
        for (const pid of this.host.running()) writeSync(openSync(`/proc/${pid}/fd/0`, 'w'), GARBAGE);
        break;
      case 'disk-full':
        rmSync(join(this.#state, 'host.log'), { force: true });
        symlinkSync('/dev/full', join(this.#state, 'host.log'));
        rmSync(join(this.#state, 'pins'), { recursive: true, force: true });
        writeFileSync(join(this.#state, 'pins'), '');
        break;
      case 'ca-removed':
        rmSync(this.#authority, { recursive: true });
        break;
      case 'clock-days':
        writeFileSync(this.#clock, String(CLOCK_MS));
        this.#signal(this.host.running(), 'SIGUSR2');
    }
  }

  /** Ends the running host if a fault left traces; the next one starts from the original state. */
  async heal(): Promise<void> {
    if (!this.#isHarmed) return;
    this.#isHarmed = false;
    this.#signal(this.host.running(), 'SIGKILL');
    await vi.waitUntil(() => this.host.running().length === 0, { timeout: 10_000, interval: 10 });
    rmSync(this.#state, { recursive: true, force: true });
    rmSync(this.#authority, { recursive: true, force: true });
    copyPrivate(this.#sound, this.#authority);
    rmSync(this.#clock, { force: true });
  }

  #signal(pids: readonly number[], signal: NodeJS.Signals): void {
    for (const pid of pids) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended in the meantime.
      }
    }
  }
}

/** Copies modes as well: the host rejects files that other users can read. */
function copyPrivate(from: string, to: string): void {
  execFileSync('cp', ['-a', from, to]);
}
