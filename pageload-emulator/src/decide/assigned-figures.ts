import type { AssignedPrediction, Assignment, Protocol } from '@hopwise/contract';
import { nearestUniform } from '../choose/choices.ts';
import type { Choice } from '../choose/choose.ts';
import { isDecided } from '../choose/confidence.ts';
import type { AnswerFigures } from './answer-figures.ts';

/** The protocols that an answer assigns to the origins, and what that gains over one protocol for all. */
export interface AssignedFigures {
  assignment: Assignment;
  assigned: Omit<AssignedPrediction, 'reason'>;
  /** The best single protocol for every origin that offers it, and its median load time. */
  uniform: { protocol: Protocol; pltMs: number };
  /** How many origins are assigned another protocol than in `uniform`; null when no mix is surely better. */
  moved: number | null;
}

/** The assignment of an answer: the mix where one was found to be better, else the best protocol wherever it is offered. */
export function assignmentOf({ joint, choices }: Choice, best: Protocol): Assignment {
  return joint.moved !== null || joint.uniform.protocol === best
    ? joint.assignment
    : nearestUniform(choices, best);
}

export function assignedFigures(
  { joint, choices }: Choice,
  assignment: Assignment,
  best: Protocol,
  figures: AnswerFigures,
): AssignedFigures {
  const time = figures.timeOf(assignment)!;
  const protocol = joint.moved === null ? best : joint.uniform.protocol;
  if (joint.moved === null) {
    const assigned = { ...time, margin: 0, confidence: 0.5, decided: false };
    return { assignment, assigned, uniform: { protocol, pltMs: time.pltMs }, moved: null };
  }
  const rival = nearestUniform(choices, protocol);
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
    moved: joint.moved,
  };
}
