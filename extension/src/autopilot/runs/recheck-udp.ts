import { siteKey } from '@hopwise/pageload-emulator';
import { visitsUntil } from '../../evidence/comparable-loads.ts';
import { slowsH3 } from '../../evidence/known-udp.ts';
import type { KnownLoad } from '../../load/load-summary.ts';
import type { StoredLoad } from '../../storage/loads.ts';
import { findSite, loadNetwork, loadNetworkMemory } from '../../storage/network.ts';
import { nameNetwork } from '../../storage/network-key.ts';
import type { AutopilotSettings } from '../settings/autopilot-settings.ts';
import { isWantedOff } from '../settings/network-rule.ts';
import { isOfNetwork, isRunning } from './autopilot-run.ts';
import type { Runs } from './runs.ts';
import {
  chooseSpared,
  findsUdpHindered,
  findsUdpOpen,
  HELD_LOADS,
  isRevisable,
  isTakenForHindered,
  isWithPins,
  listFromSpared,
  SPARED_LOADS,
} from './spared-origin.ts';

/** Ends the runs that keep HTTP/3 off where a load has shown that UDP is hindered no longer, and spares an origin now and then to see that. */
export async function recheckUdp(
  runs: Runs,
  load: StoredLoad,
  all: readonly KnownLoad[],
  settings: AutopilotSettings,
): Promise<void> {
  if (isWantedOff(load, settings)) return;
  const revisable = runs.running.filter((run) => isRevisable(run) && nameNetwork(run) === nameNetwork(load));
  const held = revisable.filter((run) => isWithPins(load, run));
  if (held.length === 0) return;
  const site = siteKey(load.recording.url);
  const belief = { own: findSite(await loadNetworkMemory(), site), known: await loadNetwork(site) };
  let isSpared = false;
  for (const run of held) {
    const requests = listFromSpared(load, run);
    if (requests.length === 0) continue;
    isSpared = true;
    run.spared!.loads++;
    if (findsUdpOpen(requests, belief)) {
      // What others' loads show of the network may still outvote it: it would be kept off at once again.
      const isStillSlow = slowsH3({ cluster: await loadNetwork() });
      await runs.end(
        revisable.filter((each) => !isStillSlow || !isOfNetwork(each)),
        'network-open',
      );
    }
    if (isRunning(run) && (run.spared!.loads === SPARED_LOADS || findsUdpHindered(requests, belief)))
      await runs.endSparing(run);
  }
  // One at a time: each makes the load somewhat slower.
  if (isSpared) return;
  for (const run of held) run.heldLoads = (run.heldLoads ?? 0) + 1;
  const due = held.find(({ state, heldLoads }) => state === 'kept' && heldLoads! >= HELD_LOADS);
  if (due === undefined || !isTakenForHindered(belief)) return;
  if (due.spared) await runs.endSparing(due);
  const origin = isRunning(due) ? chooseSpared(load, due, visitsUntil(load, all)) : null;
  if (origin !== null) await runs.spare(due, origin);
}
