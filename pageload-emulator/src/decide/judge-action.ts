import type { Action, LoadTime } from '@hopwise/contract';
import { loadTime } from '../scenarios/load-time.ts';
import type { PlannedAction } from './actions.ts';
import type { Belief } from './belief.ts';
import { type Candidate, usesH3 } from './candidates.ts';
import type { MeasuredTimes } from './measured-loads.ts';
import type { UndrawnUdp } from './undrawn-udp.ts';

/** An action is worthwhile when its gain exceeds both, its chance to help reaches the third, and its chance to harm stays below the last. */
const MIN_GAIN = 0.05;
const MIN_GAIN_MS = 30;
const MIN_CHANCE = 0.8;
export const MAX_HARM = 0.1;
/** A load that takes longer than under the baseline by this share is harmed. */
const HARM = 0.05;
/** With at least this gain and chance an action that is not worthwhile leaves the decision unsure. */
const NOTABLE_GAIN = 0.1;
const NOTABLE_CHANCE = 0.6;

/** An effect is sure when this share of its gain reaches this chance: a gain that rests on something less likely, such as a policer, is not. */
const SURE_SHARE = 0.5;
const SURE = 0.95;

/** What actions are compared with. */
export interface Rivals {
  belief: Belief<Candidate>;
  /** The browser's own behaviour, and its behaviour on visits after the first. */
  baseline: Candidate;
  later: Candidate;
  baselineTime: LoadTime;
  laterMs: number;
  timeOf: (candidate: Candidate) => LoadTime;
  measured: MeasuredTimes;
  undrawn: UndrawnUdp;
}

/** The consequences of an action, which must help on the first visit and on later ones. */
export function judgeAction(plan: PlannedAction, candidate: Candidate, rivals: Rivals): Action {
  const { baseline, baselineTime, laterMs, timeOf, measured } = rivals;
  const time = candidate === baseline ? baselineTime : timeOf(candidate);
  // Chances are those of both visits; so is the gain: what is left of it on the faster one. Measured loads are of the visits that count.
  const isOne = candidate === baseline || measured.timeOf(baseline) !== null;
  const ownMs = isOne ? baselineTime.pltMs : Math.min(baselineTime.pltMs, laterMs);
  const gainMs = ownMs - time.pltMs;
  const { helps, harms } = candidate === baseline ? { helps: 0, harms: 0 } : chancesOf(candidate, rivals);
  return {
    ...plan,
    time,
    emulated: loadTime(candidate.pltMs),
    gainMs,
    gain: gainMs / ownMs,
    helps,
    harms,
    sure: isSure(candidate, gainMs / ownMs, rivals),
    worthwhile: gainsAtLeast(MIN_GAIN, time, rivals) && helps >= MIN_CHANCE && harms <= MAX_HARM,
    measured: measured.timeOf(candidate) !== null,
  };
}

function isSure(candidate: Candidate, gain: number, rivals: Rivals): boolean {
  const { belief, baseline, later, measured, undrawn } = rivals;
  const unseen = undrawn.open + undrawn.policed + undrawn.blocked;
  if (gain <= 0) return false;
  const order = measured.compare(candidate, baseline);
  if (order !== 0) return order < 0;
  const factor = 1 - SURE_SHARE * gain;
  return [baseline, later].every((rival) => {
    const restsOnUdp = usesH3(candidate) !== usesH3(rival);
    return belief.probabilityBelow(candidate, rival, factor) - (restsOnUdp ? unseen : 0) >= SURE;
  });
}

/** Whether an action that is not worthwhile may gain much. */
export function isNotable({ needs, helps, time }: Action, rivals: Rivals): boolean {
  return !needs.includes('server') && gainsAtLeast(NOTABLE_GAIN, time, rivals) && helps >= NOTABLE_CHANCE;
}

/** What loads by the browser itself reached, the recorded one among them, is no gain, however few there are. */
function gainsAtLeast(
  share: number,
  { pltMs }: LoadTime,
  { baseline, baselineTime, laterMs, measured }: Rivals,
): boolean {
  const ownMs = Math.min(
    baselineTime.pltMs,
    laterMs,
    measured.medianOf(baseline) ?? Number.POSITIVE_INFINITY,
  );
  return ownMs - pltMs > Math.max(MIN_GAIN_MS, share * ownMs);
}

/**
 * Measured ranges that do not overlap decide: measured loads by the browser itself are of the visits that count. HTTP/3 in place of TCP helps
 * nowhere where UDP is hindered, and harms where it is policed.
 */
function chancesOf(
  candidate: Candidate,
  { belief, baseline, later, measured, undrawn }: Rivals,
): Pick<Action, 'helps' | 'harms'> {
  const order = measured.compare(candidate, baseline);
  if (order !== 0) return order < 0 ? { helps: 1, harms: 0 } : { helps: 0, harms: 1 };
  const chances = [baseline, later].map((rival) => {
    const helps = belief.probabilityBelow(candidate, rival);
    const harms = belief.probabilityBelow(rival, candidate, 1 / (1 + HARM));
    if (!usesH3(candidate) || usesH3(rival)) return { helps, harms };
    const { policed, blocked } = undrawn;
    return { helps: helps * (1 - policed - blocked), harms: harms + policed * (1 - harms) };
  });
  return {
    helps: Math.min(...chances.map(({ helps }) => helps)),
    harms: Math.max(...chances.map(({ harms }) => harms)),
  };
}
