import type { NetworkPosterior } from '../estimate/network-posterior.ts';
import type { Scenario } from '../scenarios/scenario.ts';

/** Probabilities of what happens to UDP beyond the shares of the drawn networks: none blocks it, and few of them police it or leave it alone. */
export interface UndrawnUdp {
  open: number;
  policed: number;
  blocked: number;
}

export const NOTHING_UNDRAWN: UndrawnUdp = { open: 0, policed: 0, blocked: 0 };

export function undrawnUdp(
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
