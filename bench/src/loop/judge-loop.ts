import { bootstrapInterval, drawn, type Interval } from '@hopwise/lab/statistics';
import { ARMS, type ArmName } from './decision-loop.ts';
import type { Step } from './store.ts';

/** An arm is good where it takes at most this much longer than the best one, by the reference loads. */
const GOOD = 1.1;
/** The loop has found the best arm when so many loads in turn use a good one. */
const SETTLED_LOADS = 3;

/** The steps of one phase. */
export interface PhaseFigures {
  key: string;
  network: string;
  loads: number;
  /** Means, milliseconds. */
  loopMs: number;
  naturalMs: number;
  /** `loopMs` over `naturalMs`, with a 95% interval over loads. */
  ratio: Interval;
  /** Mean of each arm over the reference loads, of the browser's own choice over all loads; those that were not loaded are absent. */
  armsMs: Partial<Record<ArmName, number>>;
  /** The arm with the lowest mean; null without reference loads. */
  best: ArmName | null;
  /** Loads before the loop used a good arm for `SETTLED_LOADS` loads; null if it did not. */
  untilBest: number | null;
}

export interface LoopFigures {
  loads: number;
  /** Loads of the loop and beside it that other work on the machine disturbed. */
  disturbed: number;
  /** Mean load time of the loop over that of the browser's own choice, with a 95% interval over loads. */
  ratio: Interval;
  phases: PhaseFigures[];
  /**
   * The same ratio if one arm had been used all the time, and if the best one had been used in each phase, by the reference loads. The
   * best one is picked by the loads that give its time, so the last is too low where arms are close.
   */
  fixed: Partial<Record<ArmName, number>>;
  oracle: number | null;
  /** Time that loads of the runner-up took beyond the mean of the phase's best loads, as a share of all time, and their number. */
  explored: { share: number; loads: number };
  /** Time that loads in trials after changes took beyond the mean of the phase's best arm, as a share of all time, and their number. */
  trials: { share: number; loads: number };
}

/** @param steps at least one, in order */
export function judgeLoop(steps: readonly Step[]): LoopFigures {
  const stepsOfPhases = phasesOf(steps);
  const phases = stepsOfPhases.map(figuresOf);
  const naturalMs = mean(steps.map((step) => step.naturalMs));
  /** Mean over the phases, as long as they were. */
  const overPhases = (timeOf: (phase: PhaseFigures) => number | undefined): number | null => {
    const times = phases.map((phase) => ({ ms: timeOf(phase), loads: phase.loads }));
    if (times.some(({ ms }) => ms === undefined)) return null;
    return times.reduce((sum, { ms, loads }) => sum + ms! * loads, 0) / (steps.length * naturalMs);
  };
  const fixed: LoopFigures['fixed'] = {};
  for (const arm of ARMS) {
    const ratio = overPhases(({ armsMs }) => armsMs[arm]);
    if (ratio !== null) fixed[arm] = ratio;
  }
  return {
    loads: steps.length,
    disturbed: steps.reduce((sum, each) => sum + each.disturbed, 0),
    // The phases are planned, so loads are drawn within each of them.
    ratio: intervalOf(stepsOfPhases),
    phases,
    fixed,
    oracle: overPhases(({ armsMs, best }) => (best === null ? undefined : armsMs[best])),
    explored: exploredOf(steps),
    trials: trialsOf(stepsOfPhases, phases),
  };
}

function phasesOf(steps: readonly Step[]): Step[][] {
  const phases: Step[][] = [];
  for (const step of steps) {
    const last = phases.at(-1) ?? [];
    const isSame = last[0]?.key === step.key && last[0].network === step.network;
    if (isSame) last.push(step);
    else phases.push([step]);
  }
  return phases;
}

function figuresOf(steps: readonly Step[]): PhaseFigures {
  const armsMs: PhaseFigures['armsMs'] = {};
  for (const arm of ARMS) {
    const times = steps.flatMap(({ reference }) => reference?.[arm] ?? []);
    if (times.length > 0) armsMs[arm] = mean(times);
  }
  const naturalMs = mean(steps.map((step) => step.naturalMs));
  if (armsMs.natural !== undefined) armsMs.natural = naturalMs;
  const tried = ARMS.filter((arm) => armsMs[arm] !== undefined);
  const best = tried.reduce<ArmName | null>((a, b) => (a === null || armsMs[b]! < armsMs[a]! ? b : a), null);
  const isGood = steps.map(({ arm }) => best !== null && (armsMs[arm] ?? Infinity) <= GOOD * armsMs[best]!);
  const at = isGood.findIndex((_, index) => {
    const run = isGood.slice(index, index + SETTLED_LOADS);
    return run.length === SETTLED_LOADS && run.every(Boolean);
  });
  const { key, network } = steps[0]!;
  return {
    key,
    network,
    loads: steps.length,
    loopMs: mean(steps.map(({ ms }) => ms)),
    naturalMs,
    ratio: intervalOf([steps]),
    armsMs,
    best,
    untilBest: at < 0 ? null : at,
  };
}

function exploredOf(steps: readonly Step[]): LoopFigures['explored'] {
  let costMs = 0;
  let loads = 0;
  for (const phase of phasesOf(steps)) {
    const usual = phase.filter(({ reason }) => reason === 'best').map(({ ms }) => ms);
    const explored = phase.filter(({ reason }) => reason === 'explore');
    loads += explored.length;
    if (usual.length === 0) continue;
    for (const { ms } of explored) costMs += ms - mean(usual);
  }
  const totalMs = steps.reduce((sum, { ms }) => sum + ms, 0);
  return { share: Math.max(0, costMs) / totalMs, loads };
}

function trialsOf(
  steps: readonly (readonly Step[])[],
  phases: readonly PhaseFigures[],
): LoopFigures['trials'] {
  let costMs = 0;
  let loads = 0;
  for (const [index, { armsMs, best }] of phases.entries()) {
    const trials = steps[index]!.filter(({ reason }) => reason === 'trial');
    loads += trials.length;
    if (best !== null) for (const { ms } of trials) costMs += ms - armsMs[best]!;
  }
  const totalMs = steps.flat().reduce((sum, { ms }) => sum + ms, 0);
  return { share: Math.max(0, costMs) / totalMs, loads };
}

/** @param parts steps that are drawn from separately, each load with the one of the browser's own choice beside it */
function intervalOf(parts: readonly (readonly Step[])[]): Interval {
  const ratioOf = (some: readonly Step[]) =>
    mean(some.map(({ ms }) => ms)) / mean(some.map(({ naturalMs }) => naturalMs));
  return bootstrapInterval(ratioOf(parts.flat()), (random) =>
    ratioOf(parts.flatMap((part) => drawn(part, random))),
  )!;
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
