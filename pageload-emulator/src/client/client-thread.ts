/** The single thread on which a browser does its network work, first come, first served. */
export class ClientThread {
  #freeMs = 0;

  /** Appends work of `costMs` and returns when it is done. */
  run(nowMs: number, costMs: number): number {
    this.#freeMs = Math.max(this.#freeMs, nowMs) + costMs;
    return this.#freeMs;
  }
}
