/** Keeps HTTP/3 off on networks that slow it down, or where the user wants it off, by one run with a pin of every origin. */
import { leavesUdpOpen } from '../../evidence/known-udp.ts';
import { listLocalOrigins } from '../../pins/worker/local-origins.ts';
import { predictionOf, type StoredLoad } from '../../storage/loads.ts';
import { loadNetwork } from '../../storage/network.ts';
import { nameNetwork, readNetworkKey, UNRECOGNISED } from '../../storage/network-key.ts';
import { type AutopilotRun, isOfNetwork, isRunning, type PlannedRun } from '../runs/autopilot-run.ts';
import { isCoolingDown } from '../runs/cool-down.ts';
import type { Runs } from '../runs/runs.ts';
import {
  type AutopilotSettings,
  readAutopilotSettings,
  saveAutopilotSettings,
} from '../settings/autopilot-settings.ts';
import { changeChoice, findChoice, keepsOffH3, NETWORK_PIN } from '../settings/network-rule.ts';
import { isSuitable, usesH3 } from './suitable-load.ts';

/** Returns a load with its prediction. */
export type Predict = (load: StoredLoad) => Promise<StoredLoad>;

/** Keeps HTTP/3 off on the network that the browser is on, for every page, or allows it, as the user chose. */
export async function switchNetwork(runs: Runs, keepsOffH3: boolean): Promise<void> {
  const networkKey = await readNetworkKey();
  await saveChoice(networkKey ?? UNRECOGNISED, keepsOffH3);
  if (keepsOffH3) await startNetworkRun(runs, networkKey);
  else await runs.end(runs.all.filter(isOfNetwork), 'rule');
}

/** Keeps HTTP/3 off on a network that the helper has recognised, by what is known of it: from the first page on. */
export async function startOnKnownNetwork(runs: Runs): Promise<void> {
  const networkKey = await readNetworkKey();
  if (networkKey === null) return;
  const settings = await readAutopilotSettings();
  if (!keepsOffH3(networkKey, { cluster: await loadNetwork() }, settings)) return;
  if (!isNetworkCoolingDown(runs.all, networkKey, findChoice(networkKey, settings)))
    await startNetworkRun(runs, networkKey);
}

/** Keeps HTTP/3 off where a load's network slows it down, or the user asked for it. @returns whether that is so */
export async function applyNetworkRule(
  runs: Runs,
  load: StoredLoad,
  beforeMs: number[],
  settings: AutopilotSettings,
  predict: Predict,
): Promise<boolean> {
  const name = nameNetwork(load);
  const choice = findChoice(name, settings);
  // Not what the load's site shows alone: it would act on all others.
  const known = { cluster: await loadNetwork(), ...(load.check && { check: load.check }) };
  if (choice === null && leavesUdpOpen(known)) await runs.end(runs.all.filter(isOfNetwork), 'network-open');
  if (!keepsOffH3(name, known, settings)) return false;
  const networkKey = load.networkKey ?? null;
  if (!isSuitable(load, await listLocalOrigins([])) || isNetworkCoolingDown(runs.all, networkKey, choice))
    return false;
  const run = await startNetworkRun(runs, networkKey, load, beforeMs);
  if (run && beforeMs.length === 0) run.predicted = await predictLaterVisits(load, predict);
  return true;
}

/** Ends runs for the user, who then no longer wants HTTP/3 off on their networks. */
export async function undoRuns(runs: Runs, undone: readonly AutopilotRun[]): Promise<void> {
  for (const run of undone.filter(isRunning).filter(isOfNetwork)) await saveChoice(nameNetwork(run), null);
  await runs.end(undone, 'you');
}

/** Saves what the user chose for a network. @param keepsOffH3 null for no choice */
export async function saveChoice(name: string, keepsOffH3: boolean | null): Promise<void> {
  const settings = await readAutopilotSettings();
  const networkRules = changeChoice(name, keepsOffH3, settings);
  await saveAutopilotSettings({ ...settings, networkRules });
}

/** @param load which led to it, if one did */
async function startNetworkRun(
  runs: Runs,
  networkKey: string | null,
  load: StoredLoad | null = null,
  beforeMs: number[] = [],
): Promise<AutopilotRun | null> {
  await runs.leaveSites();
  const planned: PlannedRun = { trigger: 'network', pins: [NETWORK_PIN], predicted: null };
  return runs.start(planned, { networkKey, load, beforeMs });
}

/** What keeping a page off HTTP/3 saves is otherwise not known, where its first visit on a network was over HTTP/2. */
async function predictLaterVisits(load: StoredLoad, predict: Predict): Promise<AutopilotRun['predicted']> {
  if (!load.recording.requests.some(usesH3)) return null;
  const decision = predictionOf(await predict(load))?.decision;
  const action = decision?.actions.find(({ kind }) => kind === 'avoid-h3');
  return decision && action ? { beforeMs: decision.baseline.laterPltMs, afterMs: action.time.pltMs } : null;
}

/** Whether an earlier end has HTTP/3 stay on for now. What the user undid no longer does once they chose to keep it off. */
function isNetworkCoolingDown(
  runs: readonly AutopilotRun[],
  networkKey: string | null,
  choice: boolean | null,
): boolean {
  const counted = choice === true ? runs.filter(({ end }) => end?.cause !== 'you') : runs;
  return isCoolingDown([NETWORK_PIN], counted, Date.now(), networkKey);
}
