/** Progress on stderr: one line a step, with the seconds since the start. */
export class Progress {
  readonly #started = performance.now();
  readonly #stream: NodeJS.WriteStream;
  #live = false;

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
  }

  get elapsedMs(): number {
    return performance.now() - this.#started;
  }

  /** Starts a step. */
  step(text: string): void {
    this.#endLive();
    this.#stream.write(`${this.#clock()}  ${text}\n`);
  }

  /** Shows the step's progress; on a terminal the next call replaces it, elsewhere it is not shown. */
  detail(text: string): void {
    if (!this.#stream.isTTY) return;
    this.#live = true;
    this.#stream.write(
      `\r\x1b[2K${this.#clock()}    ${text.slice(0, Math.max(20, (this.#stream.columns || 80) - 12))}`,
    );
  }

  #endLive(): void {
    if (this.#live) this.#stream.write('\r\x1b[2K');
    this.#live = false;
  }

  #clock(): string {
    return `${(this.elapsedMs / 1000).toFixed(1).padStart(5)} s`;
  }
}
