import type { NetworkCluster } from '@hopwise/pageload-emulator';
import { readAutopilotSettings } from '../autopilot/autopilot-settings.ts';
import { loadNetwork } from '../storage/network.ts';

/** Surer than this, it is known how a network treats UDP. */
const SURE = 0.95;
/** After these many loads that were learned, pages that offer HTTP/3 are too rare to wait for. */
const ENOUGH_LOADS = 8;

/** Whether loads have shown how a network treats UDP. */
export const knowsUdp = ({ udp: { open, policed, blocked } }: NetworkCluster): boolean =>
  Math.max(open, policed, blocked) >= SURE;

/**
 * Whether it has to be known which pages offer HTTP/3 before the browser uses it: where the autopilot acts, and the network may hinder
 * UDP, its decision saves the load over HTTP/3 that would show it.
 */
export async function wantsOffers(): Promise<boolean> {
  if (!(await readAutopilotSettings()).isOn) return false;
  const known = await loadNetwork();
  return known === null || (!knowsUdp(known) && known.loads < ENOUGH_LOADS);
}
