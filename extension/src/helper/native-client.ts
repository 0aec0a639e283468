/** Verifications by the helper. Each opens its own native-messaging port, which stays open only while it runs. */
import {
  type HelperCheck,
  HOST_NAME,
  MESSAGE_VERSION,
  type ToExtension,
  type ToHost,
  toExtension,
  toHost,
  type Verification,
  verificationSchema,
} from '@hopwise/contract';
import { createProtocolError, explainDisconnect, HelperError, type HostPort } from './helper-port.ts';

export type Hello = Extract<ToExtension, { type: 'hello' }>;
type Probe = Omit<Extract<ToHost, { type: 'probe' }>, 'type' | 'id'>;
export type Progress = Extract<ToExtension, { type: 'probe-progress' }>;

/** Limits of a result: characters of all parts together, and number of parts. */
export const MAX_RESULT_CHARS = 64 * 1024 * 1024;
const MAX_PARTS = 1024;
const HELLO_TIMEOUT_MS = 15_000;
/** A load is stored only after the answer. */
const NETWORK_TIMEOUT_MS = 3_000;
/** Rounds report their progress even on a slow link, so a helper that is silent for this long has failed. */
const SILENCE_TIMEOUT_MS = 120_000;

/**
 * Connects to the helper and asks what it can do.
 *
 * @throws HelperError when the helper is not installed, does not answer, or is of another version
 */
export async function greetHelper(
  connect: () => HostPort = () => chrome.runtime.connectNative(HOST_NAME),
): Promise<Hello> {
  const session = new ProbeSession(connect());
  try {
    return await session.hello();
  } finally {
    session.end();
  }
}

/**
 * Has the helper check everything that it needs.
 *
 * @throws HelperError when the helper is not installed, does not answer, or is too old for it
 */
export async function examineHelper(
  connect: () => HostPort = () => chrome.runtime.connectNative(HOST_NAME),
): Promise<HelperCheck[]> {
  const session = new ProbeSession(connect());
  try {
    return await session.examine();
  } finally {
    session.end();
  }
}

/**
 * Asks the helper which network this is.
 *
 * @returns null when the network is not recognised
 * @throws HelperError when the helper is not installed, does not answer, or is too old for it
 */
export async function askForNetworkKey(
  connect: () => HostPort = () => chrome.runtime.connectNative(HOST_NAME),
): Promise<string | null> {
  const session = new ProbeSession(connect());
  try {
    return await session.askForNetworkKey();
  } finally {
    session.end();
  }
}

/**
 * Transfers the page's resources under each protocol.
 *
 * @throws HelperError when the helper is not installed, refuses, stops, or breaks the message contract
 */
export async function verifyWithHelper(
  probe: Probe,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
  connect: () => HostPort = () => chrome.runtime.connectNative(HOST_NAME),
): Promise<Verification> {
  const session = new ProbeSession(connect());
  const cancel = () => session.fail(new HelperError('cancelled', 'The verification was cancelled.'));
  signal.addEventListener('abort', cancel);
  try {
    const hello = await session.hello();
    if (hello.engine === '') {
      throw new HelperError(
        'no-engine',
        hello.problem || 'The helper found no usable libcurl, which it needs for transfers.',
      );
    }
    return await session.probe(probe, onProgress);
  } finally {
    signal.removeEventListener('abort', cancel);
    session.end();
  }
}

class ProbeSession {
  readonly #port: HostPort;
  #onMessage: (message: ToExtension) => void = () => {};
  #onFailure: (error: HelperError) => void = () => {};
  #failure: HelperError | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(port: HostPort) {
    this.#port = port;
    port.onMessage.addListener((raw) => {
      const parsed = toExtension.safeParse(raw);
      if (!parsed.success) this.fail(createProtocolError('a message of an unknown form'));
      else if (parsed.data.type === 'error') {
        this.fail(new HelperError(parsed.data.code, parsed.data.message));
      } else this.#onMessage(parsed.data);
    });
    port.onDisconnect.addListener((ended) => this.fail(explainDisconnect(ended)));
  }

  hello(): Promise<Hello> {
    const id = crypto.randomUUID();
    return this.#exchange({ type: 'hello', id, version: MESSAGE_VERSION }, HELLO_TIMEOUT_MS, (message) => {
      if (message.type !== 'hello' || message.id !== id) return undefined;
      if (message.version === MESSAGE_VERSION) return message;
      const older = message.version > MESSAGE_VERSION ? 'extension' : 'helper';
      throw new HelperError('version', `Extension and helper are incompatible. Update the ${older}.`);
    });
  }

  examine(): Promise<HelperCheck[]> {
    const id = crypto.randomUUID();
    return this.#exchange({ type: 'doctor', id }, SILENCE_TIMEOUT_MS, (message) =>
      message.type === 'doctor' && message.id === id ? message.checks : undefined,
    );
  }

  async askForNetworkKey(): Promise<string | null> {
    const id = crypto.randomUUID();
    // An answer without a network is a value too.
    const { key } = await this.#exchange({ type: 'network', id }, NETWORK_TIMEOUT_MS, (message) =>
      message.type === 'network' && message.id === id ? { key: message.key } : undefined,
    );
    return key;
  }

  probe(probe: Probe, onProgress: (progress: Progress) => void): Promise<Verification> {
    const id = crypto.randomUUID();
    const parts = new PartsJoiner();
    return this.#exchange({ type: 'probe', id, ...probe }, SILENCE_TIMEOUT_MS, (message) => {
      if (message.type === 'hello' || message.id !== id) return undefined;
      if (message.type === 'probe-progress') onProgress(message);
      if (message.type !== 'probe-result') return undefined;
      const text = parts.add(message);
      if (text === null) return undefined;
      const verification = readVerification(text);
      if (verification.pageUrl !== probe.plan.pageUrl)
        throw createProtocolError('the result of another page');
      return verification;
    });
  }

  /** Sends a message, then waits until `answer` returns a value for a message received. */
  #exchange<T>(
    message: ToHost,
    silenceMs: number,
    answer: (message: ToExtension) => T | undefined,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const watch = () => {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(
          () =>
            this.fail(new HelperError('timeout', `The helper did not answer within ${silenceMs / 1000} s.`)),
          silenceMs,
        );
      };
      this.#onFailure = reject;
      this.#onMessage = (received) => {
        watch();
        try {
          const answered = answer(received);
          if (answered !== undefined) resolve(answered);
        } catch (error) {
          reject(error);
        }
      };
      if (this.#failure) return reject(this.#failure);
      watch();
      this.#port.postMessage(toHost.parse(message));
    });
  }

  fail(error: HelperError): void {
    this.#failure ??= error;
    this.#onFailure(this.#failure);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#port.disconnect();
  }
}

/** Joins the parts of a result, which must arrive in order. */
export class PartsJoiner {
  #texts: string[] = [];
  #length = 0;
  #parts = 0;

  /**
   * @returns the whole text after the last part, null before
   * @throws HelperError on parts out of order, too many or too long
   */
  add({ part, parts, json }: { part: number; parts: number; json: string }): string | null {
    if (this.#texts.length === 0) this.#parts = parts;
    const fits = part === this.#texts.length && parts === this.#parts && part < parts && parts <= MAX_PARTS;
    if (!fits) throw createProtocolError(`part ${part} of ${parts} instead of part ${this.#texts.length}`);
    this.#length += json.length;
    if (this.#length > MAX_RESULT_CHARS) throw createProtocolError('a result beyond 64 MiB');
    this.#texts.push(json);
    return this.#texts.length === parts ? this.#texts.join('') : null;
  }
}

function readVerification(text: string): Verification {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw createProtocolError('a result that is not JSON');
  }
  const parsed = verificationSchema.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw createProtocolError(
      `a result with an invalid value at ${issue?.path.join('.') || 'its top level'}`,
    );
  }
  return parsed.data;
}
