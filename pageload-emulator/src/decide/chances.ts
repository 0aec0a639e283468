import type { Belief } from './belief.ts';
import { type Candidate, usesH3 } from './candidates.ts';
import type { FitFigures } from './fit.ts';

/** A recorded load is reproduced when its emulation takes another time by no more than this, in the logarithm. */
const REPRODUCED = 0.1;
/** A lead this many times as large as what the emulation misses the recorded load by is none of its errors. */
const SOUND_LEAD = 3;
/**
 * How sure an order may be where neither holds: the share of right answers among those that were believed to be surer, 19 of 27 from the
 * golden set, in each state of knowledge of `npm run bench -- accuracy`. The bounds above were chosen on two of its pages, as those beyond
 * which answers at least 80% sure were right wherever a protocol leads by more than 5%, and hold on the third.
 */
const DOUBTFUL = 0.7;

/**
 * Chances that one choice of protocols is faster than another. They are those of the belief, but an emulation that misses the very load that
 * it was made from cannot be sure of a smaller difference between protocols: a single load shows too little of losses and of what happens to
 * UDP. Nor is HTTP/3 surely faster where nothing has shown that UDP passes: that most networks let it pass says nothing about this one. Actions,
 * which have to gain much and to harm hardly ever, go by the belief itself.
 */
export class Chances {
  readonly #belief: Belief<Candidate>;
  readonly #missed: number;
  readonly #isUdpShown: boolean;

  /**
   * @param missed what the emulation misses the recorded load by, in the logarithm; 0 where other evidence supports the order
   * @param isUdpShown whether something has shown what happens to UDP
   */
  constructor(belief: Belief<Candidate>, missed: number, isUdpShown: boolean) {
    this.#belief = belief;
    this.#missed = missed;
    this.#isUdpShown = isUdpShown;
  }

  /** Probability that `candidate`'s load time is below that of `rival`, as a rule. */
  below(candidate: Candidate, rival: Candidate): number {
    const believed = this.#belief.probabilityBelow(candidate, rival);
    return this.#isDoubtful(candidate, rival) ? Math.min(DOUBTFUL, believed) : believed;
  }

  #isDoubtful(candidate: Candidate, rival: Candidate): boolean {
    if (!this.#isUdpShown && usesH3(candidate) && !usesH3(rival)) return true;
    const lead = Math.abs(this.#belief.meanLog(rival) - this.#belief.meanLog(candidate));
    return this.#missed > REPRODUCED && lead < SOUND_LEAD * this.#missed;
  }
}

/** What the emulation misses the recorded load by, in the logarithm; 0 where that cannot be told. */
export function missedBy({ recordedMs, explained }: FitFigures): number {
  if (recordedMs === null || recordedMs <= 0 || explained === null) return 0;
  return Math.abs(Math.log(explained.pltMs / recordedMs));
}
