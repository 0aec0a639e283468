import type { Socket } from 'node:net';

/**
 * Connections that have not shown the secret yet. Anybody on the machine can open them: each has a limit of time, and
 * where there are too many, the oldest is closed, as a browser's own shows the secret at once.
 */
export class WaitingRoom {
  readonly #timers = new Map<Socket, NodeJS.Timeout>();
  readonly #most: number;
  readonly #timeoutMs: number;

  constructor(most: number, timeoutMs: number) {
    this.#most = most;
    this.#timeoutMs = timeoutMs;
  }

  get size(): number {
    return this.#timers.size;
  }

  enter(socket: Socket): void {
    // The first key of a map is the oldest.
    for (const oldest of this.#timers.keys()) {
      if (this.#timers.size < this.#most) break;
      this.leave(oldest);
      oldest.destroy();
    }
    this.#timers.set(
      socket,
      setTimeout(() => socket.destroy(), this.#timeoutMs),
    );
    socket.once('close', () => this.leave(socket));
  }

  leave(socket: Socket): void {
    clearTimeout(this.#timers.get(socket));
    this.#timers.delete(socket);
  }

  /** Closes whoever is still here. */
  clear(): void {
    for (const socket of this.#timers.keys()) socket.destroy();
  }
}
