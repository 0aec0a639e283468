import {
  type ActionKind,
  type Assignment,
  areSameRounds,
  type Decision,
  type PlannedAssignment,
  PROTOCOLS,
  uniformPlan,
  type Verification,
  type VerifiedProtocol,
} from '@hopwise/contract';

/** Actions that change nothing at the servers. */
const TRANSFERABLE: readonly ActionKind[] = ['avoid-h3', 'force-protocol'];

/** What the browser does by itself, as a verification transfers it. */
export function plannedBaseline({ baseline }: Pick<Decision, 'baseline'>): PlannedAssignment {
  return { assignment: secure(baseline.protocols), discoversH3: baseline.visit === 'first' };
}

/** The recommended action, as a verification transfers it; null where nothing is to be done. */
export function plannedAction({ action }: Pick<Decision, 'action'>): PlannedAssignment | null {
  return action.kind === 'leave' ? null : { assignment: secure(action.assignment), discoversH3: false };
}

/**
 * Assignments to verify beside one protocol for every origin: the recommended action, or the most promising one where the decision
 * is unsure, and the browser's own choice.
 */
export function assignmentsToVerify(decision: Decision): PlannedAssignment[] {
  const promising =
    decision.kind === 'unsure' ? decision.actions.find(({ kind }) => TRANSFERABLE.includes(kind)) : undefined;
  const action = plannedAction(promising ? { action: promising } : decision);
  return [...(action ? [action] : []), plannedBaseline(decision)];
}

/**
 * The rounds of a verification that requested every origin as the assignment does: its own, or those of one protocol.
 *
 * @returns null without such rounds
 */
export function verifiedUnder(
  verification: Verification,
  planned: PlannedAssignment,
): VerifiedProtocol | null {
  const { origins, protocols, assignments = [] } = verification;
  const uniform = PROTOCOLS.flatMap((protocol) => {
    const verified = protocols[protocol];
    return verified ? [{ ...uniformPlan(origins, protocol), verified }] : [];
  });
  const own = assignments.map((verified) => ({ ...verified, verified }));
  const same = [...own, ...uniform].filter((each) => areSameRounds(origins, each, planned));
  return (same.find(({ verified }) => verified.unavailable === '') ?? same[0])?.verified ?? null;
}

/** Only https origins are transferred. */
function secure(assignment: Assignment): Assignment {
  return Object.fromEntries(Object.entries(assignment).filter(([origin]) => origin.startsWith('https://')));
}
