import { median } from '@hopwise/contract';
import { isSlower, MAX_CHECKED_LOADS } from './sequential-check.ts';

/** `slower`: loads surely take longer than before; `no-gain`: `MAX_CHECKED_LOADS` loads show no gain; both roll the switch back. `kept`: they show a gain. */
export type SwitchVerdict = 'slower' | 'no-gain' | 'kept';

/**
 * The rollback checker (Zhang et al., WiseTrans, WWW 2021, section 3.4): compares loads after a change with those before it.
 *
 * @param beforeMs at least one
 * @param afterMs at least one, at most `MAX_CHECKED_LOADS`
 * @returns null while more loads are needed
 */
export function judgeSwitch(beforeMs: readonly number[], afterMs: readonly number[]): SwitchVerdict | null {
  if (isSlower(beforeMs, afterMs)) return 'slower';
  if (afterMs.length < MAX_CHECKED_LOADS) return null;
  return median(afterMs) < median(beforeMs) ? 'kept' : 'no-gain';
}
