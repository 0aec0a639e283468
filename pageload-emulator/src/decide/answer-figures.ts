import type { Assignment, LoadTime } from '@hopwise/contract';
import type { CandidateTimes } from './candidate-times.ts';
import type { Candidate } from './candidates.ts';
import type { Chances } from './chances.ts';

/** The times and chances of an answer by assignment, for whatever shows them; null for assignments that are no candidates. */
export class AnswerFigures {
  readonly #chances: Chances;
  readonly #times: CandidateTimes;
  readonly #find: (assignment: Assignment) => Candidate | undefined;

  constructor(
    chances: Chances,
    times: CandidateTimes,
    find: (assignment: Assignment) => Candidate | undefined,
  ) {
    this.#chances = chances;
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
    return own === undefined || other === undefined ? null : this.#chances.below(own, other);
  }
}
