import type { Protocol } from './protocol.ts';
import type { PlannedAssignment } from './transfer-plan.ts';
import type { VerifiedOrigin } from './verification.ts';

/**
 * How a round requests an origin: over one protocol throughout, or over TCP until a response has offered HTTP/3 in `Alt-Svc`
 * (RFC 7838).
 */
export type OriginUse = Protocol | 'h3-once-offered';

/** What is known of an origin when a round begins. */
export type OriginAbility = Pick<VerifiedOrigin, 'origin' | 'speaks' | 'h3Offered'>;

/** @returns the assigned protocol, or the best older one where the origin does not speak it, as a browser would use */
export function originUse(
  { origin, speaks, h3Offered }: OriginAbility,
  { assignment, discoversH3 }: PlannedAssignment,
): OriginUse {
  const assigned = assignment[origin] ?? 'h2';
  if (assigned === 'h3' && speaks.h3 === true) {
    return discoversH3 && !h3Offered.httpsRecord.alpn.includes('h3') ? 'h3-once-offered' : 'h3';
  }
  return assigned !== 'h1' && speaks.h2 === true ? 'h2' : 'h1';
}

/** One protocol for every origin. */
export function uniformPlan(
  origins: readonly Pick<VerifiedOrigin, 'origin'>[],
  protocol: Protocol,
): PlannedAssignment {
  return {
    assignment: Object.fromEntries(origins.map(({ origin }) => [origin, protocol])),
    discoversH3: false,
  };
}

/** Whether two assignments lead to the same requests. */
export function areSameRounds(
  origins: readonly OriginAbility[],
  one: PlannedAssignment,
  other: PlannedAssignment,
): boolean {
  return origins.every((origin) => originUse(origin, one) === originUse(origin, other));
}
