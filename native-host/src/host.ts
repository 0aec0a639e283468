/**
 * Messaging mode: serves one native-messaging port until its end. What only some messages need is loaded with the first of them: most
 * ports are opened for a question or two.
 */
import type { Readable, Writable } from 'node:stream';
import {
  EXTENSION_ID,
  encodeVerification,
  FIREFOX_EXTENSION_ID,
  MESSAGE_VERSION,
  type ToExtension,
  type ToHost,
  toHost,
} from '@hopwise/contract';
import { RequestError, type RequestErrorCode } from './base/errors.ts';
import { FrameError, MessageWriter, readFrames } from './base/framing.ts';
import { usedLauncher } from './base/launcher.ts';
import { oneLine } from './base/one-line.ts';
import { hostVersion } from './base/version.ts';
import { Engine, engineLine, engineProblem } from './engine/engine.ts';
import { identifyNetwork } from './network/network-key.ts';
import type { PinSession } from './pins/pin-session.ts';

interface HostOptions {
  input: Readable;
  output: Writable;
  log: (line: string) => void;
  /** The browser at the other end, as `--browser` names it. */
  browser: string;
  engine?: Engine;
}

type ProbeRequest = Extract<ToHost, { type: 'probe' }>;

/** Minimum interval of progress messages, milliseconds. The last message of a probe is its result. */
const PROGRESS_EVERY_MS = 100;

/**
 * Answers messages until the input ends.
 *
 * @returns whether the input ended between two frames.
 */
export async function serve(options: HostOptions): Promise<boolean> {
  const host = new Host(options);
  try {
    for await (const value of readFrames(options.input)) host.receive(value);
    return true;
  } catch (fault) {
    if (!(fault instanceof FrameError)) throw fault;
    options.log(fault.message);
    await host.refuse('', 'bad-message', fault.message);
    return false;
  } finally {
    await host.close();
  }
}

class Host {
  readonly #writer: MessageWriter;
  readonly #log: (line: string) => void;
  readonly #engine: Engine;
  readonly #browser: string;
  /** Created by the first message about pins: a port for a verification has none. */
  #pins: Promise<PinSession> | null = null;
  #probe: { id: string; cancel: AbortController; done: Promise<void> } | null = null;

  constructor({ output, log, browser, engine }: HostOptions) {
    this.#writer = new MessageWriter(output);
    this.#log = log;
    this.#browser = browser;
    this.#engine = engine ?? new Engine({ log, remembersLibrary: true });
    // The browser has closed the port: the input ends as well, which ends the host.
    output.on('error', (fault) => log(`output: ${fault.message}`));
  }

  receive(value: unknown): void {
    const parsed = toHost.safeParse(value);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const where = issue?.path.join('.') || 'message';
      void this.refuse(idOf(value), 'bad-message', `${where}: ${issue?.message ?? 'invalid'}`);
      return;
    }
    const message = parsed.data;
    if (message.type === 'hello') void this.#hello(message.id, message.version);
    else if (message.type === 'ping') void this.#send({ type: 'pong', id: message.id });
    else if (message.type === 'network') void this.#identifyNetwork(message.id);
    else if (message.type === 'doctor') void this.#examine(message.id);
    else if (message.type === 'cancel') this.#cancel(message.id);
    else if (message.type === 'probe') this.#startProbe(message);
    else void this.#pinSession().then((session) => session.receive(message));
  }

  refuse(id: string, code: RequestErrorCode, message: string): Promise<void> {
    return this.#send({ type: 'error', id: id.slice(0, 64), code, message: oneLine(message, 1024) });
  }

  async close(): Promise<void> {
    // Messages of the probe have no reader any more.
    this.#writer.close();
    this.#probe?.cancel.abort();
    await (await this.#pins)?.close();
    // In this order: an engine that hangs would never end its round.
    await this.#engine.close();
    await this.#probe?.done;
  }

  async #send(message: ToExtension): Promise<void> {
    await this.#writer.write(message).catch((fault: Error) => this.#log(`not sent: ${fault.message}`));
  }

  async #hello(id: string, version: number): Promise<void> {
    if (version !== MESSAGE_VERSION) {
      const words = `the extension has version ${version} of the messages, this host ${MESSAGE_VERSION}: update the older one`;
      await this.refuse(id, 'version', words);
      return;
    }
    const hello = {
      type: 'hello' as const,
      id,
      version: MESSAGE_VERSION,
      hostVersion: hostVersion(),
      launcher: usedLauncher(),
    };
    try {
      const info = await this.#engine.start();
      const problem = engineProblem(info).slice(0, 1024);
      await this.#send({ ...hello, engine: engineLine(info), http3: info.http3, problem });
    } catch (fault) {
      const problem = (fault as Error).message.slice(0, 1024);
      await this.#send({ ...hello, engine: '', http3: false, problem });
    }
  }

  async #identifyNetwork(id: string): Promise<void> {
    let key: string | null;
    try {
      key = identifyNetwork();
    } catch (fault) {
      await this.refuse(id, 'internal', `the network is not recognised: ${(fault as Error).message}`);
      return;
    }
    await this.#send({ type: 'network', id, key });
  }

  async #examine(id: string): Promise<void> {
    const ids = { chromium: EXTENSION_ID, firefox: FIREFOX_EXTENSION_ID };
    try {
      const { doctor } = await import('./install/doctor.ts');
      const checks = await doctor({ ids, offline: true });
      const shorten = (words: string) => oneLine(words, 1024);
      await this.#send({
        type: 'doctor',
        id,
        checks: checks.map(({ name, ok, detail, fix }) => ({
          name: oneLine(name, 64),
          ok,
          detail: shorten(detail),
          fix: shorten(fix),
        })),
      });
    } catch (fault) {
      await this.refuse(id, 'internal', (fault as Error).message);
    }
  }

  /** A cancel that comes after the end of its probe is no error. */
  #cancel(id: string): void {
    if (this.#probe?.id === id) this.#probe.cancel.abort();
  }

  #pinSession(): Promise<PinSession> {
    // Connections of pages go through this process from now on.
    if (this.#pins === null) this.#engine.guardHost();
    this.#pins ??= this.#createPinSession();
    return this.#pins;
  }

  async #createPinSession(): Promise<PinSession> {
    const { PinSession } = await import('./pins/pin-session.ts');
    return new PinSession({
      browser: this.#browser,
      engine: this.#engine,
      send: (message) => void this.#send(message),
      refuse: (id, code, message) => void this.refuse(id, code, message),
      log: this.#log,
    });
  }

  #startProbe(request: ProbeRequest): void {
    if (this.#probe) {
      void this.refuse(request.id, 'busy', 'another probe is running: wait for its end or cancel it');
      return;
    }
    const cancel = new AbortController();
    const done = this.#runProbe(request, cancel.signal).finally(() => {
      this.#probe = null;
    });
    this.#probe = { id: request.id, cancel, done };
  }

  async #runProbe(request: ProbeRequest, signal: AbortSignal): Promise<void> {
    const { id, plan, protocols, assignments, rounds, budgetBytes, publicOnly } = request;
    this.#log(
      `probe of ${originOf(plan.pageUrl)}: ${plan.transfers.length} transfers, ${rounds} rounds of ${protocols}`,
    );
    let lastMs = 0;
    const onProgress = (
      progress: Omit<Extract<ToExtension, { type: 'probe-progress' }>, 'type' | 'id'>,
    ): void => {
      const now = performance.now();
      // A slow reader gets fewer of them.
      if (now - lastMs < PROGRESS_EVERY_MS || this.#writer.waiting > 1) return;
      lastMs = now;
      void this.#send({ type: 'probe-progress', id, ...progress });
    };
    try {
      const { probe } = await import('./probe/probe.ts');
      const verification = await probe(this.#engine, plan, {
        protocols,
        assignments,
        rounds,
        budgetBytes,
        publicOnly,
        signal,
        onProgress,
      });
      for (const part of encodeVerification(id, verification)) await this.#send(part);
      this.#log(`probe of ${originOf(plan.pageUrl)}: done, ${verification.bytes} bytes`);
    } catch (fault) {
      const code = fault instanceof RequestError ? fault.code : 'internal';
      this.#log(
        `probe of ${originOf(plan.pageUrl)}: ${code}: ${code === 'internal' ? (fault as Error).stack : ''}`,
      );
      await this.refuse(id, code, (fault as Error).message);
    }
  }
}

/** The id of a malformed message, as far as it has one. */
function idOf(value: unknown): string {
  const id = typeof value === 'object' && value !== null ? (value as { id?: unknown }).id : undefined;
  return typeof id === 'string' ? id.slice(0, 64) : '';
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : '(no URL)';
}
