import { mean, median, type PinKind } from '@hopwise/contract';
import type { StoredLoad } from '../storage/loads.ts';
import { findComparableLoads, hasSamePins, pltOf } from './comparable-loads.ts';
import { judgeLoad } from './load-quality.ts';

/**
 * `gains`, `harms`: loads with the pin are surely faster or slower than those before it; `nothing`: there are enough loads to see a
 * difference, and there is none; `unclear`: there are too few.
 */
export type PinEffect = 'gains' | 'harms' | 'nothing' | 'unclear';

/** Loads of one page without pins and with them. */
export interface PinGain {
  /** Median load times, milliseconds, and their numbers of loads. */
  beforeMs: number;
  afterMs: number;
  beforeLoads: number;
  afterLoads: number;
  /** Saved time, milliseconds, 10th to 90th percentile; negative for a loss. */
  savedMs: { low: number; high: number };
  effect: PinEffect;
}

/** Loads of one page before and after one of its origins was pinned. */
export interface PinOutcome extends PinGain {
  origin: string;
  kind: PinKind;
}

/** Standard deviation of the logarithm of one load's time, and the number of loads that this assumption counts as. */
const LOAD_NOISE = 0.15;
const NOISE_WEIGHT = 4;
/** Standard deviations from the median to the 90th percentile of a normal distribution. */
const TO_90TH = 1.2816;
/** So many loads on both sides show a difference if there is one. */
const ENOUGH_LOADS = 3;

/**
 * What each pin gained, on the page that was loaded last with it. Pins of one page that were made together share their loads, and
 * so their gain.
 *
 * @param pins active ones
 * @param all stored loads, oldest first
 */
export function findPinOutcomes(
  pins: readonly { origin: string; kind: PinKind }[],
  all: readonly StoredLoad[],
): PinOutcome[] {
  return pins.flatMap(({ origin, kind }) => {
    const holds = (load: StoredLoad) => isHeld(load, origin, kind);
    const last = all.findLast((load) => holds(load) && judgeLoad(load).kind === 'full');
    if (last === undefined) return [];
    const loads = [...findComparableLoads(last, all), last];
    const before = loads.filter((load) => !hasPins(load)).map(pltOf);
    const after = loads.filter(holds).map(pltOf);
    return before.length === 0 ? [] : { origin, kind, ...compareLoads(before, after) };
  });
}

/**
 * What the pins of a load gained, all together. Null without pins, for a load that is not full, and when no load of the page
 * without pins is comparable.
 *
 * @param all stored loads, oldest first
 */
export function findPinGain(load: StoredLoad, all: readonly StoredLoad[]): PinGain | null {
  if (!hasPins(load) || judgeLoad(load).kind !== 'full') return null;
  const loads = [...findComparableLoads(load, all), load];
  const before = loads.filter((each) => !hasPins(each)).map(pltOf);
  const after = loads.filter((each) => hasSamePins(each, load)).map(pltOf);
  return before.length === 0 ? null : compareLoads(before, after);
}

const hasPins = ({ pinned }: StoredLoad) => Object.keys(pinned ?? {}).length > 0;

/** Whether a load was made with a pin. */
export function isHeld({ pinned }: Pick<StoredLoad, 'pinned'>, origin: string, kind: PinKind): boolean {
  const protocol = pinned?.[origin];
  return protocol !== undefined && (kind === 'avoid-h3' ? protocol !== 'h3' : protocol === kind);
}

/** Compares the logarithms of load times, whose scatter does not depend on the page. */
export function compareLoads(before: readonly number[], after: readonly number[]): PinGain {
  const [own, other] = [before.map(Math.log), after.map(Math.log)];
  const squares = squaresOf(own) + squaresOf(other);
  const degrees = own.length + other.length - 2;
  const variance = (NOISE_WEIGHT * LOAD_NOISE ** 2 + squares) / (NOISE_WEIGHT + degrees);
  const deviation = Math.sqrt(variance * (1 / own.length + 1 / other.length));
  const change = mean(other) - mean(own);
  const beforeMs = median(before);
  const savedAt = (logRatio: number) => -beforeMs * Math.expm1(logRatio);
  const low = savedAt(change + TO_90TH * deviation);
  const high = savedAt(change - TO_90TH * deviation);
  const isEnough = Math.min(before.length, after.length) >= ENOUGH_LOADS;
  return {
    beforeMs,
    afterMs: median(after),
    beforeLoads: before.length,
    afterLoads: after.length,
    savedMs: { low, high },
    effect: low > 0 ? 'gains' : high < 0 ? 'harms' : isEnough ? 'nothing' : 'unclear',
  };
}

function squaresOf(values: readonly number[]): number {
  const centre = mean(values);
  return values.reduce((sum, value) => sum + (value - centre) ** 2, 0);
}
