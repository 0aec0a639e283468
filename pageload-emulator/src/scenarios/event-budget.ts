/**
 * Events of all emulations of one prediction: some three seconds of processor time. Events are counted rather than time, so that
 * equal inputs give equal predictions.
 */
const MAX_EVENTS = 2_500_000;
/** A load of more events is abandoned: forty times those of a heavy page. */
export const MAX_EVENTS_PER_LOAD = 300_000;
/** Number of activities with which an event takes twice as long as on a small page, whose data fit into the processor's caches. */
const ACTIVITIES_OF_DOUBLE_COST = 2_500;

/** Stages of a prediction, with the share of the budget that may be spent by the end of each. */
const STAGE_END = { scenarios: 0.4, search: 0.7, origins: 0.95 } as const;

/** Limits the cost of the emulations of one prediction. */
export class EventBudget {
  #events = 0;
  #spent = 0;

  /** Events of all loads so far. */
  get events(): number {
    return this.#events;
  }

  /** Counts a load of a page with that many activities. */
  spend(events: number, activities: number): void {
    this.#events += events;
    this.#spent += events * (1 + activities / ACTIVITIES_OF_DOUBLE_COST);
  }

  /** Whether the share of the budget up to the end of `stage` is spent. */
  isSpent(stage: keyof typeof STAGE_END): boolean {
    return this.#spent >= STAGE_END[stage] * MAX_EVENTS;
  }
}
