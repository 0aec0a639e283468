/** How many bytes a probe may transfer, and which resources it leaves out to stay within that. */
import type { TransferPlan } from '@hopwise/contract';

type Planned = TransferPlan['transfers'][number];

/** The default budget, in loads of the page: one for each kind of round, at least this many. */
const MIN_PAGES = 3;
/** Minimum default budget: on small pages the headers of the first requests are a large part. */
const MIN_BYTES = 65_536;
/** Maximum default budget, also while the page's size is not known. */
const MAX_BYTES = 200_000_000;
/** Margin for a round whose size is known from a recording only: headers differ, and bodies change. */
export const UNSEEN_MARGIN = 0.03;
/** Share of a page that may be left out before its times no longer represent the page; assumed. */
const MAX_LEFT_OUT = 0.25;
/** How much larger than recorded a response may be: pages change. A larger one is endless or another response. */
const GROWTH = 2;
const GROWTH_BYTES = 16_384;

export class ByteBudget {
  readonly #given: boolean;
  #budgetBytes: number;
  #pageKnown: boolean;
  #pageBytes: number;
  #pages = MIN_PAGES;
  spentBytes = 0;

  /** @param budgetBytes null for three times the page's bytes, or what `allowRounds` extends that to */
  constructor(budgetBytes: number | null, transfers: readonly Planned[]) {
    this.#pageBytes = transfers.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#given = budgetBytes !== null;
    this.#pageKnown = this.#pageBytes > 0;
    this.#budgetBytes = budgetBytes ?? this.#defaultBytes();
  }

  /** Extends a default budget to one load of the page for each of this many kinds of rounds. */
  allowRounds(kinds: number): void {
    this.#pages = Math.max(MIN_PAGES, kinds);
    if (!this.#given) this.#budgetBytes = this.#defaultBytes();
  }

  #defaultBytes(): number {
    if (!this.#pageKnown) return MAX_BYTES;
    return Math.min(MAX_BYTES, Math.max(MIN_BYTES, this.#pages * this.#pageBytes));
  }

  /** Whether the caller set the budget. */
  get given(): boolean {
    return this.#given;
  }

  get budgetBytes(): number {
    return this.#budgetBytes;
  }

  get leftBytes(): number {
    return Math.max(0, this.#budgetBytes - this.spentBytes);
  }

  /** After the first complete round the size of the page is known. */
  learn(): void {
    if (!this.#pageKnown) this.#pageBytes = this.spentBytes;
    this.#pageKnown = true;
    if (!this.#given) this.#budgetBytes = this.#defaultBytes();
  }

  /** Maximum bytes of a response with this expected size; null where that is not known. */
  responseLimit(plannedBytes: number): number | null {
    return plannedBytes > 0 ? GROWTH * plannedBytes + GROWTH_BYTES : null;
  }

  /**
   * Chooses transfers to leave out so that this number of rounds fits.
   *
   * @param sizes bytes of each transfer, 0 where they are not known
   * @param margin share of the remaining budget to keep unspent
   * @returns an empty list where all fit, null where too much would have to be left out
   */
  leaveOut(
    transfers: readonly Planned[],
    sizes: readonly number[],
    rounds: number,
    margin: number,
  ): Set<number> | null {
    const allBytes = sizes.reduce((sum, size) => sum + size, 0);
    const excess = allBytes - ((1 - margin) * this.leftBytes) / rounds;
    if (excess <= 0) return new Set();
    const left = leavesFor(transfers, sizes, excess);
    const leftBytes = [...(left ?? [])].reduce((sum, index) => sum + sizes[index]!, 0);
    return leftBytes > MAX_LEFT_OUT * allBytes ? null : left;
  }
}

/** The fewest transfers with `excess` bytes in all that no other transfer waits for; never the document. */
function leavesFor(
  transfers: readonly Planned[],
  sizes: readonly number[],
  excess: number,
): Set<number> | null {
  const left = new Set<number>();
  const dependents = transfers.map(() => 0);
  for (const { after } of transfers) for (const former of new Set(after)) dependents[former]! += 1;
  for (let missing = excess; missing > 0; ) {
    let best = -1;
    for (let index = 1; index < transfers.length; index += 1) {
      if (left.has(index) || dependents[index]! > 0 || sizes[index] === 0) continue;
      if (best < 0 || isBetter(sizes[index]!, sizes[best]!, missing)) best = index;
    }
    if (best < 0) return null;
    left.add(best);
    missing -= sizes[best]!;
    for (const former of new Set(transfers[best]!.after)) dependents[former]! -= 1;
  }
  return left;
}

/** The smallest transfer that suffices alone, else the largest. */
function isBetter(size: number, best: number, missing: number): boolean {
  if (best >= missing) return size >= missing && size < best;
  return size > best;
}
