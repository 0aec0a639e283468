import type { Act, EndCause } from './act.ts';

const HOUR_MS = 3_600_000;

/** How long after an act ended its pins are not made again, by cause; those that are absent do not prevent it. */
const COOL_DOWN_MS: Partial<Record<EndCause, number>> = {
  trouble: HOUR_MS,
  refused: HOUR_MS,
  // As long as the log has them.
  slower: Number.POSITIVE_INFINITY,
  'no-gain': Number.POSITIVE_INFINITY,
  you: Number.POSITIVE_INFINITY,
};

/** Whether an earlier act with one of these pins ended so badly that they are not made again yet. */
export function isCoolingDown(pins: Act['pins'], acts: readonly Act[], nowMs: number): boolean {
  return acts.some(({ end, pins: earlier }) => {
    const coolDownMs = end === null ? undefined : COOL_DOWN_MS[end.cause];
    if (end === null || coolDownMs === undefined || nowMs - end.atMs >= coolDownMs) return false;
    return pins.some(({ origin, kind }) => earlier.some((pin) => pin.origin === origin && pin.kind === kind));
  });
}
