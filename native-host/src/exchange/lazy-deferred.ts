/** A promise that is made when it is asked for: of most exchanges not every one is. A failure that nobody asks for is none of the process. */
export class Later<T> {
  #promise: Promise<T> | null = null;
  #resolve: ((value: T) => void) | null = null;
  #reject: ((fault: Error) => void) | null = null;

  get promise(): Promise<T> {
    if (!this.#promise) {
      this.#promise = new Promise<T>((resolve, reject) => {
        this.#resolve = resolve;
        this.#reject = reject;
      });
      this.#promise.catch(() => {});
    }
    return this.#promise;
  }

  /** The first of this and `reject` counts. */
  resolve(value: T): void {
    if (this.#resolve) this.#resolve(value);
    else this.#promise ??= Promise.resolve(value);
  }

  reject(fault: Error): void {
    if (this.#reject) this.#reject(fault);
    else if (!this.#promise) {
      this.#promise = Promise.reject(fault);
      this.#promise.catch(() => {});
    }
  }
}
