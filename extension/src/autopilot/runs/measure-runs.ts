import { EVERY_ORIGIN } from '@hopwise/contract';
import { isHeld } from '../../evidence/pin-outcomes.ts';
import { describeError } from '../../language/describe-error.ts';
import type { KnownLoad } from '../../load/load-summary.ts';
import type { StoredLoad } from '../../storage/loads.ts';
import type { AutopilotSettings } from '../settings/autopilot-settings.ts';
import { isWantedOff } from '../settings/network-rule.ts';
import { type AutopilotRun, isOfNetwork, isRunning } from './autopilot-run.ts';
import { findTrouble, isNetworkSlowed, measureLoad } from './measure-load.ts';
import type { Runs } from './runs.ts';

/** Keeps or ends runs by what a load has shown of their pins: trouble, harm or a gain. */
export async function measureRuns(
  runs: Runs,
  load: StoredLoad,
  all: readonly KnownLoad[],
  settings: AutopilotSettings,
): Promise<void> {
  for (const run of runs.running) {
    const trouble = findTrouble(run, load);
    if (trouble) await runs.end([run], 'trouble', await describeError(trouble));
    else if (harmsNetwork(run, load, all, settings)) await runs.end([run], 'slower');
    if (!isRunning(run)) continue;
    const verdict = measureLoad(run, load, all);
    if (verdict === 'kept' || (verdict === 'unsure' && hasMadeWay(run, runs.all))) run.state = 'kept';
    else if (verdict !== null) await runs.end([run], verdict);
  }
}

/** Whether a network's run slows its pages down. Not where the user wants HTTP/3 off, whatever it costs. */
const harmsNetwork = (
  run: AutopilotRun,
  load: StoredLoad,
  all: readonly KnownLoad[],
  settings: AutopilotSettings,
): boolean =>
  isOfNetwork(run) &&
  isHeld(load, EVERY_ORIGIN, 'avoid-h3') &&
  !isWantedOff(run, settings) &&
  isNetworkSlowed(run, load, all);

/**
 * Whether an earlier run with one of these pins made way for a load without them, and the prediction decided for them again: what is gained is
 * too little to be surer of it, or there is nothing to compare with, as that load was over HTTP/2 where Chromium has forgotten who offers HTTP/3
 * (`resetBrokenAlternatives`). Another such load would show no more, and cost what the pins gain.
 */
function hasMadeWay({ pageUrl, networkKey, pins }: AutopilotRun, all: readonly AutopilotRun[]): boolean {
  const isSame = (other: AutopilotRun) => other.pageUrl === pageUrl && other.networkKey === networkKey;
  const sharesPins = (other: AutopilotRun) =>
    pins.some((pin) => other.pins.some(({ origin, kind }) => origin === pin.origin && kind === pin.kind));
  return all.some((other) => other.end?.cause === 'unsure' && isSame(other) && sharesPins(other));
}
