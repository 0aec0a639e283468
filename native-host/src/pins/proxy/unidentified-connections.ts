import type { Socket } from 'node:net';
import { reset } from './reset.ts';

/**
 * Connections that have not sent their CONNECT, or whose user is not known yet. Any program on the machine can open them, so each has a
 * time limit. Above the maximum number the oldest is reset: a browser sends its CONNECT at once.
 */
export class UnidentifiedConnections {
  readonly #timers = new Map<Socket, NodeJS.Timeout>();
  readonly #maxConnections: number;
  readonly #timeoutMs: number;

  constructor(maxConnections: number, timeoutMs: number) {
    this.#maxConnections = maxConnections;
    this.#timeoutMs = timeoutMs;
  }

  add(socket: Socket): void {
    // The first key of a map is the oldest.
    for (const oldest of this.#timers.keys()) {
      if (this.#timers.size < this.#maxConnections) break;
      this.remove(oldest);
      reset(oldest);
    }
    this.#timers.set(
      socket,
      setTimeout(() => socket.destroy(), this.#timeoutMs),
    );
    socket.once('close', () => this.remove(socket));
  }

  remove(socket: Socket): void {
    clearTimeout(this.#timers.get(socket));
    this.#timers.delete(socket);
  }

  /** Resets all of them: a browser whose CONNECT is under way connects directly, and after an orderly end it would show an error. */
  clear(): void {
    for (const socket of this.#timers.keys()) reset(socket);
  }
}
