import type { NativePort } from '../../../src/helper/helper-port.ts';

/** A port of the helper, whose side is simulated. */
export abstract class SimulatedPort implements NativePort {
  readonly #onMessage: ((message: unknown) => void)[] = [];
  readonly #onDisconnect: (() => void)[] = [];
  readonly onMessage = {
    addListener: (listener: (message: unknown) => void) => void this.#onMessage.push(listener),
  };
  readonly onDisconnect = { addListener: (listener: () => void) => void this.#onDisconnect.push(listener) };

  abstract postMessage(message: unknown): void;

  abstract disconnect(): void;

  /** Hands over a message of the helper's. */
  protected hand(message: object): void {
    for (const listener of this.#onMessage) listener(message);
  }

  /** Ends it as the browser does when the helper has ended. */
  protected end(): void {
    for (const listener of this.#onDisconnect) listener();
  }
}
