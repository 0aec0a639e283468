/** Talks to the native host: one port for each verification, open only while it runs. */
import {
  HOST_NAME,
  MESSAGE_VERSION,
  type ToExtension,
  type ToHost,
  toExtension,
  toHost,
  type Verification,
  verificationSchema,
} from '@hopwise/contract';

type Probe = Omit<Extract<ToHost, { type: 'probe' }>, 'type' | 'id'>;
export type Progress = Extract<ToExtension, { type: 'probe-progress' }>;

/** What is used of `chrome.runtime.Port`. */
export interface HostPort {
  postMessage(message: unknown): void;
  disconnect(): void;
  onMessage: { addListener(listener: (message: unknown) => void): void };
  onDisconnect: { addListener(listener: (port?: object) => void): void };
}

/** Longest result, all parts together, and most parts. */
export const MAX_RESULT_CHARS = 64 * 1024 * 1024;
const MAX_PARTS = 1024;
const HELLO_TIMEOUT_MS = 15_000;
/** A host that says nothing for this long is given up: a round on a slow link says how far it is. */
const SILENCE_TIMEOUT_MS = 120_000;

/** Why there is no verification; `code` is the host's, or one of this side's own. */
export class HelperError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = 'HelperError';
    this.code = code;
  }
}

/**
 * Has the page's resources transferred under each protocol.
 *
 * @throws HelperError when there is no host, it refuses, breaks off or breaks its contract
 */
export async function verifyWithHelper(
  probe: Probe,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
  connect: () => HostPort = () => chrome.runtime.connectNative(HOST_NAME),
): Promise<Verification> {
  const conversation = new Conversation(connect());
  const giveUp = () => conversation.fail(new HelperError('cancelled', 'The verification was cancelled.'));
  signal.addEventListener('abort', giveUp);
  try {
    const hello = await conversation.hello();
    if (hello.version !== MESSAGE_VERSION) {
      const newer = hello.version > MESSAGE_VERSION ? 'extension' : 'helper';
      throw new HelperError('version', `Extension and helper do not fit together: update the ${newer}.`);
    }
    if (hello.engine === '') {
      throw new HelperError('no-engine', hello.problem || 'The helper has no libcurl to transfer with.');
    }
    return await conversation.probe(probe, onProgress);
  } finally {
    signal.removeEventListener('abort', giveUp);
    conversation.end();
  }
}

class Conversation {
  readonly #port: HostPort;
  #onMessage: (message: ToExtension) => void = () => {};
  #onFailure: (error: HelperError) => void = () => {};
  #failure: HelperError | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(port: HostPort) {
    this.#port = port;
    port.onMessage.addListener((raw) => {
      const parsed = toExtension.safeParse(raw);
      if (!parsed.success) this.fail(brokenContract('a message of an unknown form'));
      else if (parsed.data.type === 'error') {
        this.fail(new HelperError(parsed.data.code, parsed.data.message));
      } else this.#onMessage(parsed.data);
    });
    port.onDisconnect.addListener((ended) => this.fail(whyDisconnected(ended)));
  }

  hello(): Promise<Extract<ToExtension, { type: 'hello' }>> {
    const id = crypto.randomUUID();
    return this.#exchange({ type: 'hello', id, version: MESSAGE_VERSION }, HELLO_TIMEOUT_MS, (message) =>
      message.type === 'hello' && message.id === id ? message : undefined,
    );
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
      if (verification.pageUrl !== probe.plan.pageUrl) throw brokenContract('the result of another page');
      return verification;
    });
  }

  /** Sends, then waits until `answer` makes something of a message. */
  #exchange<T>(
    message: ToHost,
    silenceMs: number,
    answer: (message: ToExtension) => T | undefined,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const watch = () => {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(
          () => this.fail(new HelperError('timeout', `The helper said nothing for ${silenceMs / 1000} s.`)),
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

/** Joins the parts of a result, which must come in order. */
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
    if (!fits) throw brokenContract(`part ${part} of ${parts} where ${this.#texts.length} was next`);
    this.#length += json.length;
    if (this.#length > MAX_RESULT_CHARS) throw brokenContract('a result beyond 64 MiB');
    this.#texts.push(json);
    return this.#texts.length === parts ? this.#texts.join('') : null;
  }
}

function readVerification(text: string): Verification {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw brokenContract('a result that is not JSON');
  }
  const parsed = verificationSchema.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw brokenContract(`a result that is wrong at ${issue?.path.join('.') || 'its top'}`);
  }
  return parsed.data;
}

export function brokenContract(what: string): HelperError {
  return new HelperError('protocol', `The helper sent ${what}: update or reinstall it.`);
}

/** Chromium and Firefox say in different words that no host is registered for this extension. */
export function isMissingHost(reason: string): boolean {
  return /host not found|host is forbidden|No such native application/i.test(reason);
}

/** Firefox says on the port what Chromium says in `runtime.lastError`. */
export function whyDisconnected(port?: { error?: { message: string } | null }): HelperError {
  const reason = chrome.runtime.lastError?.message ?? port?.error?.message ?? '';
  if (isMissingHost(reason)) {
    return new HelperError('no-helper', NO_HELPER);
  }
  return new HelperError('engine-died', `The helper stopped${reason ? `: ${reason}` : ' without a word.'}`);
}

export const NO_HELPER =
  'The helper that makes real transfers is not installed. Install it with: hopwise-host install';
