/** What a fuzzing thread is to do. */
export interface Order {
  target: string;
  /** Folder of the corpora. */
  corpus: string;
  seed: number;
  seconds: number;
  executions: number;
  shared: SharedArrayBuffer;
}

export type WorkerReport =
  | { type: 'finding'; input: Uint8Array; why: string }
  | { type: 'end'; executions: number; corpus: number; added: number; blocks: number };

const HEADER_BYTES = 16;
const INPUT_BYTES = 1024 * 1024;
/** Positions in the header: the number of the execution, the input's length (-1 between inputs), and whether to stop. */
const AT = { EXECUTION: 0, LENGTH: 1, STOP: 2 };

/** The input that a thread works on, in memory that outlives the thread. */
export class SharedInput {
  readonly #header: Int32Array;
  readonly #bytes: Uint8Array;

  constructor(shared: SharedArrayBuffer) {
    this.#header = new Int32Array(shared, 0, HEADER_BYTES / 4);
    this.#bytes = new Uint8Array(shared, HEADER_BYTES);
  }

  static allocate(): SharedArrayBuffer {
    return new SharedArrayBuffer(HEADER_BYTES + INPUT_BYTES);
  }

  begin(input: Uint8Array): void {
    this.#bytes.set(input.subarray(0, INPUT_BYTES));
    Atomics.store(this.#header, AT.LENGTH, Math.min(input.length, INPUT_BYTES));
    Atomics.add(this.#header, AT.EXECUTION, 1);
  }

  end(): void {
    Atomics.store(this.#header, AT.LENGTH, -1);
  }

  /** Number of the present execution; null between two. */
  get running(): number | null {
    return Atomics.load(this.#header, AT.LENGTH) < 0 ? null : Atomics.load(this.#header, AT.EXECUTION);
  }

  /** Number of executions begun. */
  get begun(): number {
    return Atomics.load(this.#header, AT.EXECUTION);
  }

  /** A copy of the present or last input. */
  get input(): Uint8Array {
    return this.#bytes.slice(0, Math.max(0, Atomics.load(this.#header, AT.LENGTH)));
  }

  stop(): void {
    Atomics.store(this.#header, AT.STOP, 1);
  }

  get isStopped(): boolean {
    return Atomics.load(this.#header, AT.STOP) === 1;
  }
}
