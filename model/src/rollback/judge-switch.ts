import { median } from '@hopwise/contract';
import { isSlower, MAX_CHECKED_LOADS } from './sequential-check.ts';

/**
 * `slower`: loads surely take longer than before; `no-gain`: `MAX_CHECKED_LOADS` loads show no gain; both roll the switch back. `kept`: they
 * surely show a gain. `unsure`: they may, but those before were too few or scatter too much: the next load is to be one without the
 * switch, which is then judged anew.
 */
export type SwitchVerdict = 'slower' | 'no-gain' | 'kept' | 'unsure';

/** How many times as long as usual a single load may take, for reasons of its own. */
const OUTLIER = 3;

/**
 * The rollback checker (Zhang et al., WiseTrans, WWW 2021, section 3.4): compares loads after a change with those before it. One of these may have
 * been slow by chance: no gain is seen in that.
 *
 * @param beforeMs at least one
 * @param afterMs at least one, at most `MAX_CHECKED_LOADS`
 * @returns null while more loads are needed
 */
export function judgeSwitch(beforeMs: readonly number[], afterMs: readonly number[]): SwitchVerdict | null {
  if (isSlower(beforeMs, afterMs)) return 'slower';
  if (afterMs.length < MAX_CHECKED_LOADS) return null;
  const sorted = [...beforeMs].sort((a, b) => a - b);
  const lowerMedian = sorted[Math.ceil(sorted.length / 2) - 1]!;
  if (median(afterMs) >= lowerMedian) return 'no-gain';
  return isSlower(afterMs, withoutOutlier(sorted)) ? 'kept' : 'unsure';
}

/** The same where the slowest load is taken for an outlier: it took no longer than the next one, or its usual share if it is alone. */
function withoutOutlier(sortedMs: readonly number[]): number[] {
  const slowest = sortedMs.at(-1)!;
  return [...sortedMs.slice(0, -1), sortedMs.at(-2) ?? slowest / OUTLIER];
}
