import { siteKey } from '@hopwise/pageload-emulator';
import { readAutopilotSettings } from '../autopilot/settings/autopilot-settings.ts';
import { getLoad, getSummaries } from '../storage/loads.ts';
import { loadNetwork } from '../storage/network.ts';
import { readSettings } from '../storage/settings.ts';
import { deservesRest } from './deserves-rest.ts';
import type { RestingHosts } from './resting-hosts.ts';

/** Has the host of a load's page rest where nothing about it is worth recording for now, and nothing that the user chose needs its loads. */
export async function restIfOrdinary(loadId: number, resting: Pick<RestingHosts, 'rest'>): Promise<void> {
  const { holdsProtocols, explores, siteRules, trafficRules } = await readAutopilotSettings();
  const { recordsInDetail, announcesStartRate } = await readSettings();
  if (holdsProtocols || explores || recordsInDetail || announcesStartRate) return;
  // Rules act on what is recorded.
  if (trafficRules.length > 0 || siteRules.some(({ rule }) => rule !== 'leave')) return;
  const load = await getLoad(loadId);
  if (load === undefined) return;
  const { url } = load.recording;
  if (deservesRest(load, await getSummaries(), await loadNetwork(siteKey(url))))
    await resting.rest(new URL(url).hostname);
}
