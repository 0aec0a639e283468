/** How often something is repeated, and for how long. */
export interface Repetition {
  /** From the beginning of one run to that of the next one, milliseconds. */
  everyMs: number;
  /** From the beginning of the first run to that of the last one, milliseconds; 0 for a single run. */
  forMs: number;
}

/** @returns how many runs a repetition has */
export function countOf({ everyMs, forMs }: Repetition): number {
  return Math.floor(forMs / everyMs) + 1;
}

/**
 * Runs something again and again, one run at a time: one that took longer than the period is followed by the next one at once.
 *
 * @param run returns whether to go on
 * @param wait waits until a time, milliseconds since 1970; returns whether to go on
 * @returns when the last run has ended or it was stopped
 * @throws what `run` and `wait` throw
 */
export async function repeat(
  run: () => Promise<boolean>,
  wait: (untilMs: number) => Promise<boolean>,
  repetition: Repetition,
): Promise<void> {
  const startedAtMs = Date.now();
  for (let done = 0; done < countOf(repetition); done++) {
    const untilMs = startedAtMs + done * repetition.everyMs;
    if (untilMs > Date.now() && !(await wait(untilMs))) return;
    if (!(await run())) return;
  }
}
