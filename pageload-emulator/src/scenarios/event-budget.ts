/**
 * Events that all emulations of one answer may have together: some three seconds of a processor. Counted and not timed, so that
 * the same question has the same answer.
 */
const MAX_EVENTS = 2_500_000;
/** A load of more does not end in any time that a person would wait: forty times what a heavy page takes. */
export const MAX_EVENTS_PER_LOAD = 300_000;
/** With so many activities an event takes twice as long as on a small page, whose data stay in the processor's caches. */
const ACTIVITIES_OF_TWICE = 2_500;

/** What is done in turn for an answer, and the share of the budget that may be gone before it stops. */
const UNTIL = { scenarios: 0.4, search: 0.7, origins: 0.95 } as const;

/** What the emulations of one answer have cost, and how much they may. */
export class EventBudget {
  #events = 0;
  #spent = 0;

  /** Of all loads so far. */
  get events(): number {
    return this.#events;
  }

  /** Counts a load of a page of so many activities. */
  spend(events: number, activities: number): void {
    this.#events += events;
    this.#spent += events * (1 + activities / ACTIVITIES_OF_TWICE);
  }

  /** Whether the share is gone that may be when `stage` ends. */
  isSpent(stage: keyof typeof UNTIL): boolean {
    return this.#spent >= UNTIL[stage] * MAX_EVENTS;
  }
}
