/** The built helper as a browser with the extension drives it: native messages on its standard streams. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  EXTENSION_ID,
  type MeasuredExchange,
  type ToExtension,
  type ToHost,
  toExtension,
} from '@hopwise/contract';

type PinsMessage = Extract<ToExtension, { type: 'pins' }>;
type PinsRequest = Extract<ToHost, { type: 'pin' | 'unpin' | 'steer' | 'pins' }>;
type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;

const HEADER_BYTES = 4;
const ANSWER_LIMIT_MS = 30_000;

/** The helper refused a message. */
export class SteeringRefusal extends Error {}

export class Helper {
  readonly #process: ChildProcess;
  readonly #exchanges: MeasuredExchange[] = [];
  readonly #listeners = new Set<(message: ToExtension | null) => void>();
  #received = Buffer.alloc(0);
  #lastId = 0;

  /** @param script the helper's own */
  constructor(script: string) {
    this.#process = spawn(process.execPath, [script, `chrome-extension://${EXTENSION_ID}/`], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#process.stdin!.on('error', () => this.#tell(null));
    this.#process.on('error', () => this.#tell(null)).on('close', () => this.#tell(null));
    this.#process.stdout!.on('data', (chunk: Buffer) => this.#receive(chunk));
  }

  /** @throws SteeringRefusal; Error when the helper has ended or does not answer */
  async ask(request: WithoutId<PinsRequest>): Promise<PinsMessage> {
    this.#lastId += 1;
    const id = String(this.#lastId);
    const text = Buffer.from(JSON.stringify({ ...request, id }));
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUInt32LE(text.length);
    const answered = this.#find(
      (message) =>
        (message.type === 'pins' || message.type === 'error') && message.id === id ? message : null,
      `no answer to ${request.type}`,
    );
    this.#process.stdin!.write(Buffer.concat([header, text]));
    const answer = await answered;
    if (answer.type === 'error') throw new SteeringRefusal(answer.message);
    return answer;
  }

  /** Waits until no pin waits any more. @throws SteeringRefusal for a pin that was lifted */
  async settle(state: PinsMessage): Promise<PinsMessage> {
    let settled = state;
    while (settled.pins.some((pin) => pin.state === 'waiting')) {
      settled = await this.#find(
        (message) => (message.type === 'pins' ? message : null),
        `still waiting: ${settled.pins[0]?.reason}`,
      );
    }
    const lifted = settled.pins.find((pin) => pin.state === 'lifted');
    if (lifted) throw new SteeringRefusal(lifted.reason);
    return settled;
  }

  /** What exchanges have shown since the last call: all of `count`, or those that are there after `limitMs`. */
  async takeExchanges(count: number, limitMs: number): Promise<MeasuredExchange[]> {
    if (this.#exchanges.length < count) {
      await this.#find(
        (message) => (message.type === 'exchanges' && this.#exchanges.length >= count ? message : null),
        'exchanges are missing',
        limitMs,
      ).catch(() => {});
    }
    return this.#exchanges.splice(0);
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const closed = once(this.#process, 'close');
    this.#process.stdin!.end();
    const killer = setTimeout(() => this.#process.kill('SIGKILL'), 5000);
    await closed;
    clearTimeout(killer);
  }

  #find<T>(
    pick: (message: ToExtension) => T | null,
    complaint: string,
    limitMs = ANSWER_LIMIT_MS,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        clearTimeout(timer);
        this.#listeners.delete(listen);
        settle();
      };
      const timer = setTimeout(() => finish(() => reject(new Error(`helper: ${complaint}`))), limitMs);
      const listen = (message: ToExtension | null) => {
        if (message === null) return finish(() => reject(new Error(`helper: ended: ${complaint}`)));
        const picked = pick(message);
        if (picked !== null) finish(() => resolve(picked));
      };
      this.#listeners.add(listen);
    });
  }

  #tell(message: ToExtension | null): void {
    if (message?.type === 'exchanges') this.#exchanges.push(...message.exchanges);
    for (const listen of [...this.#listeners]) listen(message);
  }

  #receive(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    while (this.#received.length >= HEADER_BYTES) {
      const end = HEADER_BYTES + this.#received.readUInt32LE();
      if (this.#received.length < end) return;
      const text = this.#received.toString('utf8', HEADER_BYTES, end);
      this.#received = this.#received.subarray(end);
      this.#tell(toExtension.parse(JSON.parse(text)));
    }
  }
}
