/** What a probe may transfer, and what it leaves out to stay within that. */
import type { TransferPlan } from '@hopwise/contract';

type Planned = TransferPlan['transfers'][number];

/** Bytes that a probe may transfer where nobody says: as many as three loads of the page. */
const PAGES = 3;
/** And at least so many: of small pages the headers of the first requests are no small part. */
const MIN_BYTES = 65_536;
/** At most so many where no budget is given, also while the page's size is not known. */
const MAX_BYTES = 200_000_000;
/** Of a round whose size is known from a recording alone: headers differ, bodies are made anew. */
export const UNSEEN_MARGIN = 0.03;
/** Most of a page that may be left out before its times are those of another page; assumed. */
const MAX_LEFT_OUT = 0.25;
/** A response may be this much larger than it was: pages change. What goes on beyond is endless, or another one. */
const GROWTH = 2;
const GROWTH_BYTES = 16_384;

export class Allowance {
  readonly #given: boolean;
  #budgetBytes: number;
  #pageKnown: boolean;
  spentBytes = 0;

  /** @param budgetBytes null for three times the page's bytes */
  constructor(budgetBytes: number | null, transfers: readonly Planned[]) {
    const pageBytes = transfers.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#given = budgetBytes !== null;
    this.#pageKnown = pageBytes > 0;
    this.#budgetBytes = budgetBytes ?? (this.#pageKnown ? threefold(pageBytes) : MAX_BYTES);
  }

  /** Whether somebody set it. */
  get given(): boolean {
    return this.#given;
  }

  get budgetBytes(): number {
    return this.#budgetBytes;
  }

  get leftBytes(): number {
    return Math.max(0, this.#budgetBytes - this.spentBytes);
  }

  /** The first round is whole: a page of unknown size is known now, to what was asked of its servers so far. */
  learn(): void {
    if (!this.#given && !this.#pageKnown) {
      this.#budgetBytes = threefold(this.spentBytes);
    }
    this.#pageKnown = true;
  }

  /** Most bytes of a response that should have so many; null where that is not known. */
  responseLimit(plannedBytes: number): number | null {
    return plannedBytes > 0 ? GROWTH * plannedBytes + GROWTH_BYTES : null;
  }

  /**
   * What to leave out so that so many rounds still fit.
   *
   * @param sizes bytes of each transfer, 0 where they are not known
   * @param margin share of what is left that stays unspent
   * @returns nothing where they fit, and null where too much would have to be left out
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

function threefold(pageBytes: number): number {
  return Math.min(MAX_BYTES, Math.max(MIN_BYTES, PAGES * pageBytes));
}

/** The fewest transfers of at least `excess` bytes that nothing else waits for, never the document. */
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

/** The smallest one that is enough alone, else the largest. */
function isBetter(size: number, best: number, missing: number): boolean {
  if (best >= missing) return size >= missing && size < best;
  return size > best;
}
