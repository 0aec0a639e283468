import { isLargeGain } from '../choose/confidence.ts';
import type { AssignedFigures } from '../decide/assigned-figures.ts';
import type { Sentences } from './sentences/english.ts';

/**
 * Explains the joint assignment in one sentence.
 *
 * @param origins how many the page has
 */
export function assignmentReason(
  { assigned, uniform, moved }: AssignedFigures,
  origins: number,
  { mix }: Sentences,
): string {
  if (moved === null) return mix.noHelp();
  const gainMs = uniform.pltMs - assigned.pltMs;
  if (gainMs <= 0) return mix.noHelp();
  const isEnough = isLargeGain(assigned.pltMs, uniform.pltMs);
  return mix.sooner(moved, origins, gainMs, assigned.margin, uniform.protocol, assigned.decided, isEnough);
}
