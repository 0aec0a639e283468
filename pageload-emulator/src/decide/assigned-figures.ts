import { type Assignment, PROTOCOLS, type Protocol } from '@hopwise/contract';
import { nearestUniform } from '../choose/choices.ts';
import type { Choice } from '../choose/choose.ts';
import { isDecided } from '../choose/confidence.ts';
import type { JointChoice } from '../choose/joint-assignment.ts';
import type { AnswerFigures } from './answer-figures.ts';

/** The protocols that an answer assigns to the origins, and what that gains over one protocol for all. */
export type AssignedFigures = Omit<JointChoice, 'searched'>;

/** The assignment of an answer: the mix that was found where the answer expects it to load sooner, else the best protocol wherever it is offered. */
export function assignmentOf({ joint, choices }: Choice, best: Protocol, figures: AnswerFigures): Assignment {
  const uniform = nearestUniform(choices, best);
  const timeOf = (assignment: Assignment) => figures.timeOf(assignment)!.pltMs;
  return joint.moved !== null && timeOf(joint.assignment) < timeOf(uniform) ? joint.assignment : uniform;
}

/** @param best the best single protocol of the answer */
export function assignedFigures(
  { choices }: Choice,
  assignment: Assignment,
  best: Protocol,
  figures: AnswerFigures,
): AssignedFigures {
  const time = figures.timeOf(assignment)!;
  const rival = nearestUniform(choices, best);
  // The best one may be hypothetical, where no server offers it.
  const protocol = PROTOCOLS.findLast((each) => Object.values(rival).includes(each))!;
  const moved = Object.keys(assignment).filter((origin) => assignment[origin] !== rival[origin]).length;
  if (moved === 0) {
    const assigned = { ...time, margin: 0, confidence: 0.5, decided: false };
    return { assignment, assigned, uniform: { protocol, pltMs: time.pltMs }, moved: null };
  }
  const rivalMs = figures.timeOf(rival)!.pltMs;
  const confidence = figures.chanceBelow(assignment, rival)!;
  return {
    assignment,
    assigned: {
      ...time,
      margin: Math.max(0, 1 - time.pltMs / rivalMs),
      confidence,
      decided: isDecided(time.pltMs, rivalMs, confidence),
    },
    uniform: { protocol, pltMs: rivalMs },
    moved,
  };
}
