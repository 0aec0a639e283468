import { HOUR_MS } from '@hopwise/contract';
import type { PlannedPin } from '../../pins/plan-pins.ts';
import type { AutopilotRun, EndCause } from './autopilot-run.ts';

/** How long after a run ended its pins are not made again the first time, by cause; those that are absent do not prevent it. */
const COOL_DOWN_MS: Partial<Record<EndCause, number>> = {
  trouble: HOUR_MS,
  refused: HOUR_MS,
  slower: 6 * HOUR_MS,
  'no-gain': 6 * HOUR_MS,
  // Never again, until the run is removed from the log.
  you: Number.POSITIVE_INFINITY,
};

/** The factor by which each run with the same pins that ended badly prolongs the wait for the next one. */
const LONGER = 2;

/**
 * Whether earlier runs with one of these pins ended so badly that they are not made again yet. What a network did to pins holds for
 * that network: a middlebox that refuses a protocol stands in one place. What the user undid holds everywhere, but for what was done for
 * the sake of a network.
 *
 * @param runs oldest first
 * @param networkKey of the network that the pins are for; null for one that is not recognised
 */
export function isCoolingDown(
  pins: readonly PlannedPin[],
  runs: readonly AutopilotRun[],
  nowMs: number,
  networkKey: string | null,
): boolean {
  const share = (earlier: AutopilotRun['pins']) =>
    pins.some(({ origin, kind }) => earlier.some((pin) => pin.origin === origin && pin.kind === kind));
  const bad = runs.filter(
    ({ end, pins: earlier, trigger, networkKey: key = null }) =>
      end &&
      COOL_DOWN_MS[end.cause] &&
      ((end.cause === 'you' && trigger !== 'network') || key === networkKey) &&
      share(earlier),
  );
  // Where the clock was set back, the end is of the future.
  return bad.some(
    ({ end }, before) => Math.abs(nowMs - end!.atMs) < COOL_DOWN_MS[end!.cause]! * LONGER ** before,
  );
}
