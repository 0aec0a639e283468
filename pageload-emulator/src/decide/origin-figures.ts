import type { Assignment, Protocol } from '@hopwise/contract';
import { isDecided } from '../choose/confidence.ts';
import type { OriginChoice } from '../choose/origin-choice.ts';
import { withEmulatedChange } from '../scenarios/load-time.ts';
import type { AnswerFigures } from './answer-figures.ts';

/** Load times with one protocol for every origin, milliseconds: as emulated, and as the answer has them. */
interface UniformTimes {
  emulatedMs: (protocol: Protocol) => number;
  answeredMs: (protocol: Protocol) => number;
}

/**
 * Puts an origin's choice into the times and chances of the answer. Where the page with the origin on another protocol is no
 * candidate, its time is that of the answer's assignment with the emulated difference, as far as the answer confirms such differences.
 */
export function originFigures(
  choice: OriginChoice,
  assignment: Assignment,
  figures: AnswerFigures,
  uniform: UniformTimes,
): OriginChoice {
  const { origin, protocol, pageMs: emulatedMs } = choice;
  const time = figures.timeOf(assignment)!;
  const others = (Object.entries(choice.pltMs) as [Protocol, number][]).filter(([each]) => each !== protocol);
  const rivals = others
    .map(([each, ms]) => {
      const moved = { ...assignment, [origin]: each };
      const toMs = emulatedMs + confirmedShare(uniform, protocol, each) * (ms - emulatedMs);
      const movedTime = figures.timeOf(moved) ?? withEmulatedChange(time, emulatedMs, toMs);
      return { protocol: each, pltMs: movedTime.pltMs, chance: figures.chanceBelow(assignment, moved) };
    })
    .sort((a, b) => a.pltMs - b.pltMs);
  const rival = rivals[0];
  const pageMs = time.pltMs;
  const rivalMs = rival?.pltMs ?? pageMs;
  const chances = rivals.map(({ chance }) => chance);
  const confidence =
    rival !== undefined && chances.every((chance) => chance !== null)
      ? Math.min(...chances)
      : choice.confidence;
  return {
    ...choice,
    pltMs: Object.fromEntries([[protocol, pageMs], ...rivals.map((each) => [each.protocol, each.pltMs])]),
    rival: rival?.protocol ?? null,
    margin: Math.max(0, 1 - pageMs / rivalMs),
    confidence,
    decided: rival !== undefined && isDecided(pageMs, rivalMs, confidence),
    gainMs: rivalMs - pageMs,
    pageMs,
  };
}

/** How much of the emulated difference of two protocols the answer has, 0 to 1: one origin's move shows no more than the whole page's. */
function confirmedShare({ emulatedMs, answeredMs }: UniformTimes, from: Protocol, to: Protocol): number {
  const emulatedApart = emulatedMs(to) - emulatedMs(from);
  const answeredApart = answeredMs(to) - answeredMs(from);
  return emulatedApart === 0 ? 1 : Math.min(1, Math.max(0, answeredApart / emulatedApart));
}
