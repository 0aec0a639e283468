/** Creates its promise on first access; unobserved rejections are ignored. */
export class LazyDeferred<T> {
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

  /** Only the first call of `resolve` or `reject` has an effect. */
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
