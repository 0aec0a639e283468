import { SHOWN_OPEN } from '../estimate/network-cluster.ts';
import type { NetworkPosterior } from '../estimate/network-posterior.ts';
import type { Scenario } from '../scenarios/scenario.ts';

/** By how much what may happen to UDP is likelier than its share of the drawn networks, none of which blocks UDP; 0 to 1 each. */
export interface UndrawnUdp {
  open: number;
  policed: number;
  blocked: number;
}

export const NOTHING_UNDRAWN: UndrawnUdp = { open: 0, policed: 0, blocked: 0 };

/** Whether something has shown what happens to UDP. */
export const isUdpShown = ({ policed, blocked }: UndrawnUdp): boolean => policed + blocked <= 1 - SHOWN_OPEN;

/** Compares the drawn networks with the posterior that they were drawn from. @returns zeros where it is known what happens to UDP */
export function findUndrawnUdp(
  { given, udp, path }: NetworkPosterior,
  scenarios: readonly Scenario[],
): UndrawnUdp {
  if (given.udp !== undefined || path.udp.kind === 'blocked' || path.udp.kind === 'lossy')
    return NOTHING_UNDRAWN;
  const policed = scenarios.filter((each) => each.path.udp.kind === 'policed').length / scenarios.length;
  return {
    open: Math.max(0, udp.open - (1 - policed)),
    policed: Math.max(0, udp.policed - policed),
    blocked: udp.blocked,
  };
}
