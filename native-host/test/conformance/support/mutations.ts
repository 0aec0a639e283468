import fc from 'fast-check';

/** How often properties that change bytes are tried, and from which seed. */
export const MUTATION_RUNS = { seed: 20_261_122, numRuns: 60 };

const mutation = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  byte: fc.nat(255),
  how: fc.constantFrom('set', 'insert', 'drop'),
});

interface Mutation {
  at: number;
  byte: number;
  how: string;
}

/** One to four changes of what they are given. */
export const mutations = fc.array(mutation, { minLength: 1, maxLength: 4 });

export function mutated(bytes: Buffer, all: readonly Mutation[]): Buffer {
  return all.reduce(changed, bytes);
}

function changed(bytes: Buffer, { at, byte, how }: Mutation): Buffer {
  const index = Math.min(bytes.length, Math.floor(at * bytes.length));
  const middle = how === 'drop' ? [] : [byte];
  return Buffer.concat([
    bytes.subarray(0, index),
    Buffer.from(middle),
    bytes.subarray(how === 'insert' ? index : index + 1),
  ]);
}
