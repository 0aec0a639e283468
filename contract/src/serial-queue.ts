/** Runs tasks one after another, in the order in which they are given. */
export class SerialQueue {
  /** Resolves when the last task has ended, however it did. */
  #ended: Promise<void> = Promise.resolve();
  #size = 0;

  /** Number of tasks that have not ended. */
  get size(): number {
    return this.#size;
  }

  /**
   * Runs a task when all earlier ones have ended. Its error rejects the returned promise alone: later tasks still run, and a
   * caller who does not wait for the outcome causes no unhandled rejection.
   */
  run<T>(task: () => Promise<T> | T): Promise<T> {
    this.#size += 1;
    const outcome = this.#ended.then(task).finally(() => {
      this.#size -= 1;
    });
    const end = () => {};
    this.#ended = outcome.then(end, end);
    return outcome;
  }

  /** Waits for the tasks given so far to end, be it with an error. */
  whenIdle(): Promise<void> {
    return this.#ended;
  }
}
