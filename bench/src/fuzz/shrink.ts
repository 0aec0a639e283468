/** Tries of one input. */
const TRIES = 300;

/** Makes an input shorter while `isSame` holds, by leaving out pieces of falling length. */
export async function shrink(
  input: Uint8Array,
  isSame: (smaller: Uint8Array) => Promise<boolean>,
): Promise<Uint8Array> {
  let smallest = Buffer.from(input);
  let tries = 0;
  for (let length = smallest.length >> 1; length > 0; length >>= 1) {
    for (let at = 0; at < smallest.length && tries < TRIES; tries += 1) {
      const smaller = Buffer.concat([smallest.subarray(0, at), smallest.subarray(at + length)]);
      if (await isSame(smaller)) smallest = smaller;
      else at += length;
    }
  }
  return smallest;
}
