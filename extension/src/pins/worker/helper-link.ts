import {
  HOST_NAME,
  MESSAGE_VERSION,
  type ToExtension,
  type ToHost,
  toExtension,
  toHost,
} from '@hopwise/contract';
import {
  createProtocolError,
  createSilenceError,
  explainDisconnect,
  HelperError,
  type HostPort,
} from '../../helper/helper-port.ts';
import { Heartbeat } from './heartbeat.ts';

export type HelperPins = Extract<ToExtension, { type: 'pins' }>;
type WithoutId<T> = T extends { id: string } ? Omit<T, 'id'> : never;
export type HelperPinRequest = WithoutId<Extract<ToHost, { type: 'pin' | 'unpin' | 'pins' }>>;

/** Includes the time that the browser takes to start the helper. */
const ANSWER_TIMEOUT_MS = 15_000;

interface Waiting {
  resolve(message: HelperPins): void;
  reject(error: HelperError): void;
  timer: ReturnType<typeof setTimeout>;
}

export interface LinkListener {
  /** The pins changed without a request from this side. */
  onPins(message: HelperPins): void;
  /** The helper ended or broke the message contract. Called at most once, and not after `close`. */
  onEnd(why: HelperError): void;
}

/** The port to the helper that stays open while there are pins; it keeps the extension's worker alive. */
export class HelperLink {
  readonly #port: HostPort;
  readonly #listener: LinkListener;
  readonly #waiting = new Map<string, Waiting>();
  readonly #helloId = crypto.randomUUID();
  readonly #heartbeat: Heartbeat;
  #ended = false;

  constructor(
    listener: LinkListener,
    connect: () => HostPort = () => chrome.runtime.connectNative(HOST_NAME),
  ) {
    this.#listener = listener;
    this.#port = connect();
    this.#port.onMessage.addListener((raw) => this.#receive(raw));
    this.#heartbeat = new Heartbeat({
      ping: () => this.#send({ type: 'ping', id: crypto.randomUUID() }),
      onSilent: () => this.#end(createSilenceError()),
    });
    this.#port.onDisconnect.addListener((ended) => {
      const why = explainDisconnect(ended);
      this.#end(this.#heartbeat.isMissed ? createSilenceError() : why);
    });
    // Does not wait for the answer: the helper answers after it has loaded libcurl, which pins may not need.
    this.#send({ type: 'hello', id: this.#helloId, version: MESSAGE_VERSION });
  }

  /** @throws HelperError when the helper refuses, does not answer in time or has ended */
  ask(request: HelperPinRequest): Promise<HelperPins> {
    return new Promise((resolve, reject) => {
      if (this.#ended) {
        reject(new HelperError('engine-died', 'The helper has stopped.'));
        return;
      }
      const id = crypto.randomUUID();
      const silent = new HelperError(
        'timeout',
        `The helper did not answer within ${ANSWER_TIMEOUT_MS / 1000} s.`,
      );
      const timer = setTimeout(() => this.#end(silent), ANSWER_TIMEOUT_MS);
      this.#waiting.set(id, { resolve, reject, timer });
      this.#send({ ...request, id });
    });
  }

  /** Also ends the helper, which exits when its port closes. */
  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#heartbeat.stop();
    this.#port.disconnect();
    this.#rejectAll(new HelperError('cancelled', 'All pins were removed in the meantime.'));
  }

  #send(message: ToHost): void {
    this.#port.postMessage(toHost.parse(message));
  }

  #receive(raw: unknown): void {
    if (this.#ended) return;
    const parsed = toExtension.safeParse(raw);
    if (!parsed.success) {
      this.#end(createProtocolError('a message of an unknown form'));
      return;
    }
    this.#heartbeat.noteAnswer();
    const message = parsed.data;
    if (message.type === 'error') {
      const error = new HelperError(message.code, message.message);
      if (message.id === this.#helloId || message.code === 'version') this.#end(error);
      else this.#take(message.id)?.reject(error);
    } else if (message.type === 'pins') {
      // Not before: the browser may take long to start the helper.
      this.#heartbeat.start();
      const waiting = this.#take(message.id);
      if (waiting) waiting.resolve(message);
      else this.#listener.onPins(message);
    }
  }

  #take(id: string): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    clearTimeout(waiting?.timer);
    this.#waiting.delete(id);
    return waiting;
  }

  #end(why: HelperError): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#heartbeat.stop();
    this.#port.disconnect();
    this.#listener.onEnd(why);
    this.#rejectAll(why);
  }

  #rejectAll(why: HelperError): void {
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(why);
  }
}
