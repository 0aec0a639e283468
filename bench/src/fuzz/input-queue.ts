import fc from 'fast-check';
import { type Mutation, mutate, mutation } from '../../../pageload-emulator/test/support/mutations.ts';
import { byteMutations, mutateBytes } from './byte-mutations.ts';
import type { FuzzTarget } from './target.ts';

/** Longer inputs take time and show little. */
const INPUT_BYTES = 64 * 1024;
/** Draws of one call: each call has some cost of its own. */
const DRAWS = 256;

const draw = fc.record({
  from: fc.nat(0xffff),
  other: fc.nat(0xffff),
  asJson: fc.integer({ min: 0, max: 3 }),
  bytes: byteMutations,
  values: fc.array(mutation, { minLength: 1, maxLength: 4 }),
});

interface Draw {
  from: number;
  other: number;
  asJson: number;
  bytes: Parameters<typeof mutateBytes>[1];
  values: Mutation[];
}

/** Makes inputs by changing those of a corpus. Equal seeds and corpora give equal inputs. */
export class InputQueue {
  readonly #target: FuzzTarget;
  readonly #corpus: readonly Uint8Array[];
  #seed: number;
  #draws: Draw[] = [];

  /** @param corpus may grow meanwhile; never empty */
  constructor(target: FuzzTarget, corpus: readonly Uint8Array[], seed: number) {
    this.#target = target;
    this.#corpus = corpus;
    this.#seed = seed;
  }

  next(): Uint8Array {
    if (this.#draws.length === 0) this.#draws = fc.sample(draw, { seed: this.#seed++, numRuns: DRAWS });
    const { from, other, asJson, bytes, values } = this.#draws.pop()!;
    const input = this.#pick(from);
    const changed =
      this.#target.input === 'json' && asJson > 0
        ? mutateJson(input, values)
        : mutateBytes(input, bytes, this.#target.dictionary ?? [], this.#pick(other));
    return changed.subarray(0, INPUT_BYTES);
  }

  #pick(which: number): Uint8Array {
    return this.#corpus[which % this.#corpus.length]!;
  }
}

/** Inputs that are not JSON stay as they are. */
function mutateJson(input: Uint8Array, values: readonly Mutation[]): Buffer {
  const text = Buffer.from(input).toString();
  try {
    return Buffer.from(values.reduce(mutate, text));
  } catch (error) {
    if (error instanceof SyntaxError) return Buffer.from(input);
    throw error;
  }
}
