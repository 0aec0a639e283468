import { Session } from 'node:inspector';

/** Code of this repository, as `file:start:end` of blocks that ran. */
const OWN_CODE = /^file:\/\/.*\/(contract|pageload-emulator|native-host|extension|lab)\/(src|dist|bin)\//;

/** V8's precise block coverage (its inspector's `Profiler` domain): which blocks of this repository's code have run so far. */
export class BlockCoverage {
  readonly #session = new Session();
  readonly #seen = new Set<string>();

  constructor() {
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  get blocks(): number {
    return this.#seen.size;
  }

  /** Blocks that ran since the last call. Calling takes about a millisecond. */
  take(): string[] {
    const blocks: string[] = [];
    // In this thread the answer is there when the call returns.
    this.#session.post('Profiler.takePreciseCoverage', (fault, answer) => {
      if (fault) throw fault;
      for (const { url, functions } of answer.result) {
        if (!OWN_CODE.test(url)) continue;
        for (const { ranges } of functions) {
          for (const { startOffset, endOffset, count } of ranges) {
            if (count > 0) blocks.push(`${url}:${startOffset}:${endOffset}:${magnitude(count)}`);
          }
        }
      }
    });
    return blocks;
  }

  /** Adds blocks to those that have run. @returns whether any is new. */
  add(blocks: readonly string[]): boolean {
    const before = this.#seen.size;
    for (const block of blocks) this.#seen.add(block);
    return this.#seen.size > before;
  }

  hasNew(blocks: readonly string[]): boolean {
    return blocks.some((block) => !this.#seen.has(block));
  }

  close(): void {
    this.#session.disconnect();
  }
}

/** Once, a few times, often: a loop that ran more often is progress as well. */
function magnitude(count: number): number {
  return count === 1 ? 1 : count < 8 ? 2 : count < 64 ? 3 : 4;
}
