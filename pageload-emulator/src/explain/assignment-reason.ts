import { PROTOCOL_NAME } from '@hopwise/contract';
import type { JointChoice } from '../choose/joint-assignment.ts';
import { ms, percent } from './words.ts';

/**
 * Explains the joint assignment in one sentence.
 *
 * @param origins how many the page has
 */
export function assignmentReason({ assigned, uniform, moved }: JointChoice, origins: number): string {
  const allOnOne = `${PROTOCOL_NAME[uniform.protocol]} for every origin that offers it`;
  if (moved === null) return 'Mixing protocols would not help.';
  const change = `With other protocols for ${moved} of ${origins} origins the page`;
  const lead = `${ms(uniform.pltMs - assigned.pltMs)} (${percent(assigned.margin)}) sooner than with ${allOnOne}`;
  return assigned.decided
    ? `${change} loads ${lead}.`
    : `${change} might load ${lead}: too little to be sure.`;
}
