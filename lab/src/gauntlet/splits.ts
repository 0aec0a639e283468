/** Train, validation and test draw from ranges without a value in common. */
import { createHash } from 'node:crypto';
import { SeededRandom } from '../random.ts';

export const SPLITS = ['train', 'validation', 'test'] as const;
/** Constants are chosen on `train`, looked at on `validation` and reported on `test`. */
export type Split = (typeof SPLITS)[number];

/** Ends of a range, both above 0. */
export type Range = readonly [low: number, high: number];

/** A range is cut into this many slots, equally wide on a logarithmic scale, each of which belongs to one split. */
const SLOTS = 48;
/** Owners of the slots in turn: half of each range is for training. */
export const OWNERS: readonly Split[] = ['train', 'validation', 'train', 'test'];

/** A number from the split's slots of the range, uniform on a logarithmic scale. */
export function drawFrom(random: SeededRandom, split: Split, [low, high]: Range): number {
  const own = Array.from({ length: SLOTS }, (_, slot) => slot).filter(
    (slot) => OWNERS[slot % OWNERS.length] === split,
  );
  return low * (high / low) ** ((random.pick(own) + random.fraction()) / SLOTS);
}

/** Random numbers of one thing of one split: those of other things do not change them. */
export function randomFor(...key: (string | number)[]): SeededRandom {
  return new SeededRandom(createHash('sha256').update(JSON.stringify(key)).digest().readInt32BE());
}
