import type { Decision } from '@hopwise/contract';
import type { ChoiceReason } from '@hopwise/model';
import { findComparableLoads, showsLoadTime, visitsUntil } from '../../evidence/comparable-loads.ts';
import type { KnownLoad } from '../../load/load-summary.ts';
import { listLocalOrigins } from '../../pins/worker/local-origins.ts';
import { getLoad, predictionOf, type StoredLoad } from '../../storage/loads.ts';
import { readExperience, saveExperience } from '../learning/explorer-store.ts';
import { type AutopilotRun, isRunning, type PlannedRun } from '../runs/autopilot-run.ts';
import { isCoolingDown } from '../runs/cool-down.ts';
import { isOfRunsPage } from '../runs/measure-load.ts';
import type { Runs } from '../runs/runs.ts';
import type { AutopilotSettings } from '../settings/autopilot-settings.ts';
import { findRule, planByRules } from '../settings/site-rules.ts';
import { isLeftByTraffic, planByTraffic } from '../settings/traffic-rules.ts';
import { addUnknownOffers, chooseRun, type Option } from './choose-run.ts';
import { chooseTrial } from './choose-trial.ts';
import { findDecidedLoad } from './decided-load.ts';
import { mayGain } from './may-gain.ts';
import { applyNetworkRule, type Predict } from './network-run.ts';
import { isSuitable } from './suitable-load.ts';
import { listTimesBefore } from './times-before.ts';

/**
 * Starts the run that is best after a load, if any: what the user's rules ask for, else what its network asks for, else what a prediction
 * promises, else a trial.
 *
 * @param all stored loads, oldest first
 */
export async function startBestRun(
  runs: Runs,
  load: StoredLoad,
  all: readonly KnownLoad[],
  settings: AutopilotSettings,
  predict: Predict,
): Promise<void> {
  if (!isSuitable(load, await listLocalOrigins([]))) return;
  const beforeMs = listTimesBefore(load, all);
  const occasion = { networkKey: load.networkKey ?? null, load, beforeMs };
  const start = async (planned: PlannedRun) => (await runs.start(planned, occasion)) !== null;

  const ruled = planByRules(load.recording, settings.siteRules);
  if (await start({ trigger: 'rule', pins: ruled, predicted: null })) return;
  const byTraffic = planByTraffic(load, settings);
  if (await start({ trigger: 'traffic', pins: byTraffic, predicted: null })) return;
  const isOffH3 = await applyNetworkRule(runs, load, beforeMs, settings, predict);
  if (isOffH3 && !settings.holdsProtocols) return;

  const comparable = findComparableLoads(load, all);
  const own = runs.all.filter((run) => isOfRunsPage(load, run));
  if (!showsLoadTime(load, all) || isUnderWay(own, load) || isLeft(load, settings)) return;
  const trialOfLoad = own.find(({ end, lastLoadId }) => end?.cause === 'tried' && lastLoadId === load.id);
  if (!(await mayGain(load, all, settings)) && !trialOfLoad) return;
  const decision = await findDecision(load, comparable, predict);
  if (!decision) return;

  const reason = trialOfLoad ? (trialOfLoad.reason ?? 'explore') : 'best';
  const isLearned = settings.explores && visitsUntil(load, all).judge(load) === 'later';
  const trial = isLearned ? await planTrial(runs.all, load, decision, settings, reason) : null;
  const planned = chooseRun(decision, settings);
  const startWhole = (run: PlannedRun) => start(addUnknownOffers(run, load, settings));
  const isStarted = planned !== null && (await startWhole(planned));
  if (trial && !isStarted && !own.some(isRunning)) await startWhole(trial);
}

/** Whether loads of a page are still to show what one of its runs gains. */
const isUnderWay = (own: readonly AutopilotRun[], load: StoredLoad): boolean =>
  own.some(
    ({ state, spared, end, lastLoadId }) =>
      state === 'checking' ||
      spared ||
      // The next load is to be one without pins.
      (end?.cause === 'unsure' && lastLoadId === load.id),
  );

/** Whether a rule of the user's leaves a load's page as it is. */
const isLeft = (load: StoredLoad, { siteRules, trafficRules }: AutopilotSettings): boolean =>
  findRule(load.recording.url, siteRules) === 'leave' || isLeftByTraffic(load, trafficRules);

/** The decision of an earlier load of the page where it still holds, else that of this load. */
async function findDecision(
  load: StoredLoad,
  comparable: readonly KnownLoad[],
  predict: Predict,
): Promise<Decision | undefined> {
  // A verification shows more than the load of an earlier decision.
  const decided = load.verification === null ? findDecidedLoad(load, comparable) : null;
  // Where it was removed in the meantime, it decides no longer.
  const whole = (decided && (await getLoad(decided.id))) ?? (await predict(load));
  return predictionOf(whole)?.decision;
}

/** Learns from a load, also where nothing is tried after it. */
async function planTrial(
  all: readonly AutopilotRun[],
  load: StoredLoad,
  decision: Decision,
  settings: AutopilotSettings,
  reason: ChoiceReason,
): Promise<PlannedRun | null> {
  const key = load.networkKey ?? null;
  const experience = await readExperience(key);
  const mayTry = ({ pins }: Option) => !isCoolingDown(pins, all, Date.now(), key);
  const trial = chooseTrial(experience, load, decision, settings, reason, mayTry);
  await saveExperience(key, experience);
  return trial;
}
