/** The one thread on which a browser's network side does its work, in order of arrival. */
export class ClientThread {
  #freeMs = 0;

  /** Appends work of `costMs` and returns when it is done. */
  run(nowMs: number, costMs: number): number {
    this.#freeMs = Math.max(this.#freeMs, nowMs) + costMs;
    return this.#freeMs;
  }
}
