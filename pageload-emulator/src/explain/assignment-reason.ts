import type { JointChoice } from '../choose/joint-assignment.ts';
import type { Sentences } from './sentences/english.ts';

/**
 * Explains the joint assignment in one sentence.
 *
 * @param origins how many the page has
 */
export function assignmentReason(
  { assigned, uniform, moved }: JointChoice,
  origins: number,
  { mix }: Sentences,
): string {
  if (moved === null) return mix.noHelp();
  const gainMs = uniform.pltMs - assigned.pltMs;
  return mix.sooner(moved, origins, gainMs, assigned.margin, uniform.protocol, assigned.decided);
}
