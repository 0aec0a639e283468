import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import {
  EXTENSION_ID,
  type MeasuredExchange,
  type ToExtension,
  type ToHost,
  toExtension,
} from '@hopwise/contract';
import { frame, readFrames } from '../../src/base/framing.ts';

export const BIN = fileURLToPath(new URL('../../bin/hopwise-host.ts', import.meta.url));

export const CHROMIUM_ARGUMENTS = [`chrome-extension://${EXTENSION_ID}/`];
export const FIREFOX_ARGUMENTS = [
  '/home/u/.mozilla/native-messaging-hosts/org.hopwise.host.json',
  'hopwise@hopwise.org',
];

export type PinsMessage = Extract<ToExtension, { type: 'pins' }>;

/** The host as a browser starts it. */
export class HostProcess {
  readonly process: ChildProcess;
  readonly exit: Promise<number | null>;
  readonly #frames: AsyncGenerator<unknown>;
  readonly #exchanges: MeasuredExchange[] = [];

  constructor(
    env: NodeJS.ProcessEnv,
    args: readonly string[] = CHROMIUM_ARGUMENTS,
    stderr: 'inherit' | 'ignore' = 'inherit',
    /** A command that executes the one behind it. */
    before: readonly string[] = [],
  ) {
    const [command, ...words] = [...before, process.execPath, '--conditions=source', BIN, ...args];
    this.process = spawn(command!, words, {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', stderr],
    });
    this.exit = new Promise((resolve) => this.process.once('exit', resolve));
    this.#frames = readFrames(this.process.stdout!);
  }

  send(message: unknown): void {
    this.process.stdin!.write(frame(message, Number.MAX_SAFE_INTEGER));
  }

  async next(): Promise<ToExtension> {
    const { value, done } = await this.#frames.next();
    if (done) throw new Error('the host has ended its output');
    return toExtension.parse(value);
  }

  /** Messages up to the first that is no progress. */
  async answer(): Promise<{ progress: ToExtension[]; message: ToExtension }> {
    const progress: ToExtension[] = [];
    for (;;) {
      const message = await this.next();
      if (message.type !== 'probe-progress') return { progress, message };
      progress.push(message);
    }
  }

  /** Sends a message about pins and waits for its answer. */
  async askPins(
    message: Extract<ToHost, { type: 'pin' | 'unpin' | 'steer' | 'pins' }>,
  ): Promise<PinsMessage> {
    this.send(message);
    const answer = await this.nextPins();
    if (answer.id !== message.id) throw new Error(`expected the answer to ${message.id}, found ${answer.id}`);
    return answer;
  }

  /** The next message about pins; reports of exchanges before it are kept. */
  async nextPins(): Promise<PinsMessage> {
    let message = await this.next();
    while (this.#keepExchanges(message)) message = await this.next();
    if (message.type !== 'pins') throw new Error(`expected pins, found ${JSON.stringify(message)}`);
    return message;
  }

  /** What exchanges of `auto` pins have shown, once it is of so many. */
  async nextExchanges(count: number): Promise<MeasuredExchange[]> {
    while (this.#exchanges.length < count) this.#keepExchanges(await this.next());
    return this.#exchanges.splice(0);
  }

  #keepExchanges(message: ToExtension): boolean {
    if (message.type !== 'exchanges') return false;
    this.#exchanges.push(...message.exchanges);
    return true;
  }

  async end(): Promise<number | null> {
    this.process.stdin!.end();
    return this.exit;
  }
}
