import {
  HOST_NAME,
  MESSAGE_VERSION,
  type MeasuredExchange,
  type ToExtension,
  type ToHost,
  toExtension,
  toHost,
} from '@hopwise/contract';
import { t } from '../language/translate.ts';
import { Heartbeat } from './heartbeat.ts';
import {
  createProtocolError,
  createSilenceError,
  explainDisconnect,
  HelperError,
  type NativePort,
} from './helper-port.ts';

type WithoutId<T> = T extends { id: string } ? Omit<T, 'id'> : never;
export type HelperRequest = WithoutId<ToHost>;
export type HelperAnswer = Exclude<ToExtension, { type: 'error' | 'exchanges' }>;
export type Hello = Extract<ToExtension, { type: 'hello' }>;
export type HelperPins = Extract<ToExtension, { type: 'pins' }>;

/** Includes the time that the browser takes to start the helper. */
const HELLO_LIMIT_MS = 15_000;

interface ConnectionListener {
  /** The pins changed without a request from this side. */
  onPins?(message: HelperPins): void;
  /** What requests to an origin with an `auto` pin have shown. */
  onExchanges?(origin: string, exchanges: MeasuredExchange[]): void;
  /** The helper ended or broke the message contract. Called at most once, and not after `close`. */
  onEnd?(why: HelperError): void;
}

interface OpenRequest {
  receive(message: HelperAnswer): void;
  reject(error: HelperError): void;
}

/** A running helper: its port, the requests that it has not answered yet, and its end. While the port is open, the worker stays alive. */
export class HelperConnection {
  readonly #port: NativePort;
  readonly #listener: ConnectionListener;
  readonly #requests = new Map<string, OpenRequest>();
  readonly #heartbeat: Heartbeat;
  #endedBy: HelperError | null = null;

  constructor(
    listener: ConnectionListener = {},
    connect: () => NativePort = () => chrome.runtime.connectNative(HOST_NAME),
  ) {
    this.#listener = listener;
    this.#port = connect();
    this.#heartbeat = new Heartbeat({
      ping: () => this.#send({ type: 'ping', id: crypto.randomUUID() }),
      onSilent: () => this.#fail(createSilenceError()),
    });
    this.#port.onMessage.addListener((raw) => this.#receive(raw));
    this.#port.onDisconnect.addListener((ended) => {
      const why = explainDisconnect(ended);
      this.#fail(this.#heartbeat.isMissed ? createSilenceError() : why);
    });
  }

  /**
   * Asks what the helper can do; a helper that refuses is of no use, which ends the connection.
   *
   * @param limitMs null for no limit: the helper answers after it has loaded libcurl
   * @throws HelperError when it does not answer in time or is of another version
   */
  async greet(limitMs: number | null = HELLO_LIMIT_MS): Promise<Hello> {
    try {
      const hello = await this.request({ type: 'hello', version: MESSAGE_VERSION }, limitMs, (message) =>
        message.type === 'hello' ? message : undefined,
      );
      if (hello.version === MESSAGE_VERSION) return hello;
      const isNewer = hello.version > MESSAGE_VERSION;
      throw new HelperError('version', () => t(isNewer ? 'helperTooNew' : 'helperTooOld'));
    } catch (error) {
      this.#fail(error as HelperError);
      throw error;
    }
  }

  /**
   * Sends a request and passes every message in answer to it to `read`, until that returns a value.
   *
   * @param limitMs the longest silence, milliseconds, which ends the connection; null for no limit
   * @throws HelperError when the helper refuses, is silent for too long or has ended, and what `read` throws
   */
  request<T>(
    request: HelperRequest,
    limitMs: number | null,
    read: (message: HelperAnswer) => T | undefined,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#endedBy) return reject(this.#endedBy);
      const id = crypto.randomUUID();
      let timer: ReturnType<typeof setTimeout> | undefined;
      const waitAgain = () => {
        clearTimeout(timer);
        if (limitMs === null) return;
        const silent = () => t('helperNoAnswer', { limit: limitMs / 1000 });
        timer = setTimeout(() => this.#fail(new HelperError('timeout', silent)), limitMs);
      };
      const settle = (how: () => void) => {
        clearTimeout(timer);
        this.#requests.delete(id);
        how();
      };
      this.#requests.set(id, {
        receive: (message) => {
          waitAgain();
          try {
            const answer = read(message);
            if (answer !== undefined) settle(() => resolve(answer));
          } catch (error) {
            settle(() => reject(error));
          }
        },
        reject: (error) => settle(() => reject(error)),
      });
      waitAgain();
      this.#send({ ...request, id } as ToHost);
    });
  }

  /** Also ends the helper, which exits when its port closes. @param why the error of the requests without an answer */
  close(why = new HelperError('cancelled', () => t('helperClosed'))): void {
    if (this.#endedBy) return;
    this.#endedBy = why;
    this.#heartbeat.stop();
    this.#port.disconnect();
    this.#rejectAll(why);
  }

  #fail(why: HelperError): void {
    if (this.#endedBy) return;
    this.close(why);
    this.#listener.onEnd?.(why);
  }

  #send(message: ToHost): void {
    this.#port.postMessage(toHost.parse(message));
  }

  #receive(raw: unknown): void {
    if (this.#endedBy) return;
    const parsed = toExtension.safeParse(raw);
    if (!parsed.success) {
      this.#fail(createProtocolError(() => t('helperSentUnknown')));
      return;
    }
    this.#heartbeat.noteAnswer();
    const message = parsed.data;
    if (message.type === 'error') {
      this.#handleRefusal(message);
      return;
    }
    if (message.type === 'exchanges') {
      this.#listener.onExchanges?.(message.origin, message.exchanges);
      return;
    }
    // Not before: the browser may take long to start the helper.
    if (message.type === 'pins') this.#heartbeat.start();
    const request = this.#requests.get(message.id);
    if (request) request.receive(message);
    else if (message.type === 'pins') this.#listener.onPins?.(message);
  }

  #handleRefusal({ id, code, message }: Extract<ToExtension, { type: 'error' }>): void {
    const error = new HelperError(code, () => t('helperReports', { message }));
    if (code === 'version') this.#fail(error);
    // The helper could not read which request it refuses.
    else if (id === '') this.#rejectAll(error);
    else this.#requests.get(id)?.reject(error);
  }

  #rejectAll(error: HelperError): void {
    for (const request of [...this.#requests.values()]) request.reject(error);
  }
}
