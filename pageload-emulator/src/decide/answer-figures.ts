import type { Assignment, LoadTime } from '@hopwise/contract';
import type { Belief } from './belief.ts';
import type { CandidateTimes } from './candidate-times.ts';
import type { Candidate } from './candidates.ts';

/** The times and chances of an answer by assignment, for whatever shows them; null for assignments that are no candidates. */
export class AnswerFigures {
  readonly #belief: Belief<Candidate>;
  readonly #times: CandidateTimes;
  readonly #find: (assignment: Assignment) => Candidate | undefined;

  constructor(
    belief: Belief<Candidate>,
    times: CandidateTimes,
    find: (assignment: Assignment) => Candidate | undefined,
  ) {
    this.#belief = belief;
    this.#times = times;
    this.#find = find;
  }

  timeOf(assignment: Assignment): LoadTime | null {
    const candidate = this.#find(assignment);
    return candidate === undefined ? null : this.#times.of(candidate);
  }

  /** Probability that the page loads faster under the first assignment. */
  chanceBelow(assignment: Assignment, rival: Assignment): number | null {
    const own = this.#find(assignment);
    const other = this.#find(rival);
    return own === undefined || other === undefined ? null : this.#belief.probabilityBelow(own, other);
  }
}
