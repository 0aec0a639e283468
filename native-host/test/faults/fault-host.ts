/** A host as the browser starts it, with local CA and browser that trusts it, and what can befall the host. */
import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { PinKind, PinState } from '@hopwise/contract';
import { HEAP_ARGUMENTS, MALLOC_SETTINGS } from '../../src/base/memory-settings.ts';
import { type Authority, createAuthority } from '../../src/ca/authority.ts';
import { writeAuthority } from '../../src/ca/authority-store.ts';
import { openTunnel, until } from '../pins/proxy/support/peers.ts';
import { showTrust } from '../pins/terminating/support/show-trust.ts';
import { BIN, CHROMIUM_ARGUMENTS, HostProcess, type PinsMessage } from '../support/host-process.ts';
import { Patience } from './patience.ts';

const HOOKS = fileURLToPath(new URL('./host-hooks.ts', import.meta.url));
/** Every write to it fails with ENOSPC. */
const FULL = '/dev/full';
/** Mounts a disk of 256 kB at the first of the words behind it, for the command of the others alone. */
const ON_SMALL_DISK = [
  ...['unshare', '--map-root-user', '--mount', 'sh', '-c'],
  'mount -t tmpfs -o size=256k,mode=700 none "$0" && exec "$@"',
];

/** A check of an origin may take 15 s where nothing answers, and is not repeated for 10 s. */
const EFFECT_LIMIT_MS = 90_000;
/** Later than a check on a machine that is not busy. */
const CONNECT_AGAIN_MS = 3_000;

interface FaultHostOptions {
  /** Hosts that the local CA can issue certificates for. */
  hosts: readonly string[];
  caFile: string;
  libcurl: string;
  /** The local CA lies on a disk of its own, which can be filled. */
  hasSmallDisk: boolean;
}

export class FaultHost {
  readonly home = mkdtempSync(join(tmpdir(), 'hopwise-faults-'));
  readonly root: string;
  /** Milliseconds by which the host's clock is off. */
  clockOffsetMs = 0;
  /** The last reported state. */
  state: PinsMessage | null = null;
  /** What came on its standard output that was no frame with a message. */
  readonly strays: string[] = [];
  readonly #process: HostProcess;
  readonly #answers = new Map<string, (message: PinsMessage) => void>();
  readonly #read: Promise<void>;
  #asked = 0;
  #isOver = false;
  /** What is wrong with the command that made the CA anew. */
  #creating: Promise<string[]> = Promise.resolve([]);

  private constructor(authority: Authority, options: FaultHostOptions) {
    this.root = authority.root;
    const data = join(this.home, 'data');
    mkdirSync(data);
    this.#process = new HostProcess(
      {
        XDG_STATE_HOME: join(this.home, 'state'),
        XDG_DATA_HOME: data,
        HOPWISE_CA_FILE: options.caFile,
        HOPWISE_LIBCURL: options.libcurl,
        HOPWISE_TEST_CLOCK: join(this.home, 'clock'),
        NODE_OPTIONS: [`--import=${HOOKS}`, ...HEAP_ARGUMENTS].join(' '),
        ...MALLOC_SETTINGS,
      },
      CHROMIUM_ARGUMENTS,
      'ignore',
      options.hasSmallDisk ? [...ON_SMALL_DISK, data] : [],
    );
    this.#process.process.stdin!.on('error', () => {});
    this.#read = this.#readAll();
  }

  static async start(options: FaultHostOptions): Promise<FaultHost> {
    const authority = createAuthority([...options.hosts]);
    const host = new FaultHost(authority, options);
    if (options.hasSmallDisk) await until(() => host.#hasSmallDisk);
    await writeAuthority(authority, host.#authorityFolder);
    return host;
  }

  get pid(): number {
    return this.#process.process.pid!;
  }

  /** Ids of the host and its engine. */
  get processes(): number[] {
    const { engine } = this;
    return engine === null ? [this.pid] : [this.pid, engine];
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Process id of the engine; null while there is none. */
  get engine(): number | null {
    try {
      const text = readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, 'utf8');
      return Number(text.trim().split(' ')[0]) || null;
    } catch {
      return null;
    }
  }

  get log(): string {
    const file = join(this.#stateFolder, 'host.log');
    // The full disk's would never end.
    return lstatSync(file, { throwIfNoEntry: false })?.isFile() ? readFileSync(file, 'utf8') : '';
  }

  /** Pins an origin and waits until the pin is in effect. */
  async pin(origin: string, kind: PinKind, persistent: boolean): Promise<PinsMessage> {
    const answer = await this.#ask({
      type: 'pin',
      origin,
      kind,
      minutes: null,
      persistent,
      allowLocal: true,
    });
    const { hostname } = new URL(origin);
    // By this the host hears as well that the browser asks for this machine through the proxy.
    await showTrust(answer.port, hostname, answer.trialToken, this.root).catch(() => false);
    await this.#awaitEffect(origin, answer);
    return answer;
  }

  /** Waits as a browser in use does: what came too late on a busy machine is tried again with its next connections. */
  async #awaitEffect(origin: string, { port, trialToken }: PinsMessage): Promise<void> {
    const over = new Patience(() => [process.pid, ...this.processes]).limit(EFFECT_LIMIT_MS);
    const { hostname, host } = new URL(origin);
    for (let againMs = performance.now() + CONNECT_AGAIN_MS; !over.aborted; againMs += CONNECT_AGAIN_MS) {
      const isDecided = () => this.#isOver || this.pinOf(origin)?.state !== 'waiting';
      await until(() => isDecided() || performance.now() > againMs, Number.POSITIVE_INFINITY);
      if (isDecided()) return;
      if (this.state?.trials.includes(hostname))
        await showTrust(port, hostname, trialToken, this.root).catch(() => false);
      else
        await openTunnel(port, host)
          .then((socket) => socket.destroy())
          .catch(() => {});
    }
    throw new Error(`${origin} is still pinned in vain: ${this.pinOf(origin)?.reason}`);
  }

  unpin(origin: string): Promise<PinsMessage> {
    return this.#ask({ type: 'unpin', origin });
  }

  pinOf(origin: string): PinState | null {
    return this.state?.pins.find((pin) => pin.origin === origin) ?? null;
  }

  /** Asks for the state, unless the host has ended. */
  async refresh(): Promise<void> {
    if (!this.#isOver) await this.#ask({ type: 'pins' }).catch(() => {});
  }

  /** Whether or not it still runs. */
  kill(): void {
    this.#process.process.kill('SIGKILL');
  }

  signalEngine(signal: NodeJS.Signals): void {
    const { engine } = this;
    if (engine) process.kill(engine, signal);
  }

  closePort(): void {
    this.#process.process.stdin!.end();
  }

  sendGarbage(): void {
    this.#process.process.stdin!.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  }

  setClock(offsetMs: number): void {
    const file = join(this.home, 'clock');
    writeFileSync(file, String(offsetMs));
    process.kill(this.pid, 'SIGUSR2');
    // Browser and host share a clock: both see a change at the same time.
    const set = (): boolean => existsSync(`${file}.set`);
    void until(set).then(() => {
      this.clockOffsetMs = offsetMs;
    });
  }

  removeAuthority(): void {
    rmSync(this.#authorityFolder, { recursive: true });
  }

  /** The disk of the CA is full when another CA is created. */
  fillAuthorityDisk(): void {
    const ballast = openSync(join(this.#dataFolder, 'ballast'), 'w');
    try {
      for (;;) writeSync(ballast, Buffer.alloc(1024));
    } catch {
      closeSync(ballast);
    }
    this.#creating = this.#createAuthority();
  }

  /** Nothing more can be written to the log, nor kept of pins. */
  fillDisk(): void {
    rmSync(join(this.#stateFolder, 'host.log'), { force: true });
    symlinkSync(FULL, join(this.#stateFolder, 'host.log'));
    rmSync(join(this.#stateFolder, 'pins'), { recursive: true, force: true });
    writeFileSync(join(this.#stateFolder, 'pins'), '');
  }

  /** Ends the host, if it runs. @returns what is left behind that should not be. */
  async end(): Promise<string[]> {
    const { engine } = this;
    const { port = 0 } = this.state ?? {};
    const left = await this.#creating;
    this.closePort();
    await this.#process.exit;
    await this.#read;
    left.push(...this.strays);
    await until(() => engine === null || !existsSync(`/proc/${engine}`)).catch(() =>
      left.push('an engine is left behind'),
    );
    if (this.#process.process.signalCode === null) left.push(...this.#filesLeft());
    if (port !== 0 && (await isListening(port))) left.push('the proxy still listens');
    rmSync(this.home, { recursive: true, force: true });
    return left;
  }

  get #stateFolder(): string {
    const folder = join(this.home, 'state', 'hopwise');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  /** The data folder, as the host sees it. */
  get #dataFolder(): string {
    return join('/proc', String(this.pid), 'root', this.home, 'data');
  }

  get #authorityFolder(): string {
    return join(this.#dataFolder, 'hopwise', 'ca');
  }

  get #hasSmallDisk(): boolean {
    return readFileSync(`/proc/${this.pid}/mountinfo`, 'utf8').includes(join(this.home, 'data'));
  }

  async #createAuthority(): Promise<string[]> {
    const files = (): string[] => readdirSync(this.#dataFolder, { recursive: true }).map(String).sort();
    const before = files();
    const child = spawn(
      'nsenter',
      [
        ...['--target', String(this.pid), '--user', '--mount', '--preserve-credentials'],
        ...[process.execPath, '--conditions=source', BIN, 'ca', 'create', 'https://localhost'],
      ],
      {
        env: { ...process.env, HOME: this.home, XDG_DATA_HOME: join(this.home, 'data') },
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    const said = await text(child.stderr!);
    const wrong: string[] = [];
    if (!/^hopwise-host: nothing was changed: .*ENOSPC[^\n]*\n$/.test(said))
      wrong.push(`without space, making a CA ends with: ${said}`);
    if (files().join() !== before.join()) wrong.push(`without space, making a CA leaves ${files()}`);
    return wrong;
  }

  #filesLeft(): string[] {
    const names = readdirSync(this.#stateFolder, { recursive: true }).map(String);
    return names.filter((name) => /^control\/|\.new$/.test(name)).map((name) => `${name} is left behind`);
  }

  async #readAll(): Promise<void> {
    try {
      for (;;) {
        const message = await this.#process.next();
        if (message.type !== 'pins') continue;
        this.state = message;
        this.#answers.get(message.id)?.(message);
        this.#answers.delete(message.id);
      }
    } catch (fault) {
      const { message } = fault as Error;
      // Killed in the middle of a frame.
      const isEnd = message === 'the host has ended its output' || (await this.#process.exit) === null;
      if (!isEnd) this.strays.push(`standard output: ${message}`);
    }
    this.#isOver = true;
  }

  #ask(message: object): Promise<PinsMessage> {
    const id = String(++this.#asked);
    return new Promise((resolve, reject) => {
      this.#answers.set(id, resolve);
      void this.#read.then(() => reject(new Error('the host has ended')));
      this.#process.send({ ...message, id });
    });
  }
}

async function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
