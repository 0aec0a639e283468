/** The pins of one browser's session: handles messages of its extension and of the command line. */

import type { ToExtension, ToHost } from '@hopwise/contract';
import { RequestError, type RequestErrorCode } from '../base/errors.ts';
import { usedLauncher } from '../base/launcher.ts';
import { LocalLeafIssuer } from '../ca/leaf-issuer.ts';
import type { ControlAnswer, ControlRequest } from '../control/control-messages.ts';
import { ControlServer } from '../control/control-server.ts';
import type { Engine } from '../engine/engine.ts';
import { identifyNetwork } from '../network/network-key.ts';
import { PinService } from './pin-service.ts';
import { FilePinStore } from './pin-store.ts';
import { systemProxy } from './system-proxy/system-proxy.ts';
import { TerminatingProxy } from './terminating/terminating-proxy.ts';

type PinMessage = Extract<ToHost, { type: 'pin' | 'unpin' | 'steer' | 'pins' }>;

interface PinSessionOptions {
  /** The browser of the session, as `--browser` names it. */
  browser: string;
  /** Sends the requests of origins that are pinned to a protocol. */
  engine: Engine;
  send(message: Extract<ToExtension, { type: 'pins' | 'exchanges' }>): void;
  refuse(id: string, code: RequestErrorCode, message: string): void;
  log(line: string): void;
}

export class PinSession {
  readonly #options: PinSessionOptions;
  readonly #service: PinService;
  readonly #control: ControlServer;
  readonly #reachable: Promise<void>;
  /** Whether an unsolicited message is scheduled, which will include changes until then. */
  #isNotifying = false;
  #closed = false;

  constructor(options: PinSessionOptions) {
    const { log, engine } = options;
    this.#options = options;
    this.#service = new PinService({
      store: new FilePinStore(),
      log,
      onChange: () => void this.#notify(),
      onExchanges: (origin, exchanges) => options.send({ type: 'exchanges', origin, exchanges }),
      createTerminator: (hooks) =>
        new TerminatingProxy({
          ...hooks,
          engine,
          issuer: new LocalLeafIssuer({ log }),
          identifyNetwork: () => findNetwork(log),
        }),
      systemProxy,
    });
    this.#control = new ControlServer({ log, answer: (request) => this.#answerCommand(request) });
    this.#reachable = this.#control.listen();
  }

  async receive(message: PinMessage): Promise<void> {
    const { send, refuse, log } = this.#options;
    const { id } = message;
    try {
      if (message.type === 'pin') await this.#service.pin(message);
      else if (message.type === 'unpin') this.#service.unpin(message.origin);
      else if (message.type === 'steer') await this.#service.steer(message.origin, message.protocol);
      send({ type: 'pins', id, launcher: usedLauncher(), ...(await this.#service.readState()) });
    } catch (fault) {
      if (!(fault instanceof RequestError)) log(`pins: ${(fault as Error).stack}`);
      refuse(id, fault instanceof RequestError ? fault.code : 'internal', (fault as Error).message);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#reachable;
    await this.#control.close();
    await this.#service.close();
  }

  /** Sends the extension an unsolicited message after a change. */
  async #notify(): Promise<void> {
    if (this.#isNotifying) return;
    this.#isNotifying = true;
    // Changes of the same turn share one message.
    await new Promise((resolve) => setImmediate(resolve));
    this.#isNotifying = false;
    const state = await this.#service.readState();
    if (!this.#closed) this.#options.send({ type: 'pins', id: '', launcher: usedLauncher(), ...state });
  }

  async #answerCommand(request: ControlRequest): Promise<ControlAnswer> {
    let unpinned: string[] = [];
    if (request.type === 'pin') await this.#service.pin(request);
    else if (request.type === 'unpin') unpinned = this.#unpin(request.origin);
    if (request.type === 'pin' || unpinned.length > 0) void this.#notify();
    const { pins } = await this.#service.readState();
    return { type: 'status', browser: this.#options.browser, pins, unpinned };
  }

  #unpin(origin: string | null): string[] {
    if (origin === null) return this.#service.unpinAll();
    return this.#service.unpin(origin) ? [origin] : [];
  }
}

/** @returns null where the network is not recognised */
function findNetwork(log: (line: string) => void): string | null {
  try {
    return identifyNetwork();
  } catch (fault) {
    log(`the network is not recognised: ${(fault as Error).message}`);
    return null;
  }
}
