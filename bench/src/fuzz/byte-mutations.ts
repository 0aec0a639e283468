import fc from 'fast-check';

/** Numbers at which lengths and counts overflow. */
const EDGES = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff];

const KINDS = ['set', 'insert', 'drop', 'repeat', 'edge', 'word', 'splice', 'cut'] as const;

interface ByteMutation {
  kind: (typeof KINDS)[number];
  /** Where, as a share of the input. */
  at: number;
  /** How many bytes. */
  length: number;
  /** The byte, or which of the edges, words and others. */
  which: number;
}

export const byteMutations: fc.Arbitrary<ByteMutation[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...KINDS),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.oneof(
      { weight: 4, arbitrary: fc.integer({ min: 1, max: 4 }) },
      fc.integer({ min: 1, max: 200 }),
    ),
    which: fc.nat(0xffff),
  }),
  { minLength: 1, maxLength: 5 },
);

/**
 * @param words pieces to insert
 * @param other an input to take a piece from
 */
export function mutateBytes(
  input: Uint8Array,
  mutations: readonly ByteMutation[],
  words: readonly string[],
  other: Uint8Array,
): Buffer {
  let bytes = Buffer.from(input);
  for (const { kind, at, length, which } of mutations) {
    const index = Math.floor(at * bytes.length);
    const replace = (piece: Uint8Array, dropped: number): void => {
      bytes = Buffer.concat([bytes.subarray(0, index), piece, bytes.subarray(index + dropped)]);
    };
    if (kind === 'set') replace(Buffer.from([which & 0xff]), 1);
    else if (kind === 'insert') replace(Buffer.alloc(length, which & 0xff), 0);
    else if (kind === 'drop') replace(Buffer.alloc(0), length);
    else if (kind === 'repeat') replace(bytes.subarray(index, index + length), 0);
    else if (kind === 'edge') replace(edge(which), edge(which).length);
    else if (kind === 'word' && words.length > 0)
      replace(Buffer.from(words[which % words.length]!, 'latin1'), which % 2);
    else if (kind === 'splice') replace(other.subarray(which % (other.length + 1)), length);
    else if (kind === 'cut') bytes = bytes.subarray(0, Math.max(index, 1));
  }
  return bytes;
}

/** An edge as 1, 2 or 4 bytes in either byte order. */
function edge(which: number): Buffer {
  const value = EDGES[which % EDGES.length]!;
  const bytes = Buffer.alloc(4);
  if (which & 0x100) bytes.writeUInt32LE(value);
  else bytes.writeUInt32BE(value);
  const size = value <= 0xff ? 1 : value <= 0xffff ? 2 : 4;
  return which & 0x100 ? bytes.subarray(0, size) : bytes.subarray(4 - size);
}
