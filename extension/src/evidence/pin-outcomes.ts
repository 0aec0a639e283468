import { mean, median, type PinKind, sumOfSquares, TO_90TH } from '@hopwise/contract';
import { judgeSwitch } from '@hopwise/model';
import { LOAD_NOISE } from '@hopwise/pageload-emulator';
import { factsOf, type KnownLoad } from '../load/load-summary.ts';
import {
  findComparableLoads,
  hasPins,
  hasSamePins,
  pltOf,
  showsLoadTime,
  visitsUntil,
} from './comparable-loads.ts';

/**
 * `gains`, `harms`: loads with the pin are surely faster or slower than those before it; `nothing`: there are enough loads to see a
 * difference, and there is none; `slower-once`: a single load with the pin was slower, by less than the autopilot ends a run for;
 * `unclear`: there are too few.
 */
type PinEffect = 'gains' | 'harms' | 'nothing' | 'slower-once' | 'unclear';

/** Loads of one page without pins and with them. */
export interface PinGain {
  /** Median load times, milliseconds, and their numbers of loads: 0 before where that time is estimated. */
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

/** What a page takes without pins, as it was known when they were made. */
export interface Reference {
  /** Measured load times, milliseconds; none where there was no later visit. */
  beforeMs: readonly number[];
  /** Load time by the prediction, milliseconds; null for none. */
  estimatedMs: number | null;
}

/** The number of loads that the assumed noise counts as. */
const NOISE_WEIGHT = 4;
/** How many loads on either side show a difference if there is one. */
const ENOUGH_LOADS = 3;

/**
 * What each pin gained, on the page that was loaded last with it. Pins of one page that were made together share their loads, and
 * so their gain.
 *
 * @param pins active ones
 * @param all stored loads, oldest first
 * @param referenceOf what was known of a load's page when its pins were made, which stored loads need not show any longer
 */
export function findPinOutcomes(
  pins: readonly { origin: string; kind: PinKind }[],
  all: readonly KnownLoad[],
  referenceOf: (load: KnownLoad) => Reference | null = () => null,
): PinOutcome[] {
  return pins.flatMap(({ origin, kind }) => {
    const holds = (load: KnownLoad) => isHeld(load, origin, kind);
    const last = all.findLast((load) => holds(load) && showsLoadTime(load, all));
    if (last === undefined) return [];
    const after = [...findComparableLoads(last, all), last].filter(holds).map(pltOf);
    const gain = compareWith(findReference(last, all, referenceOf(last)), after);
    return gain === null ? [] : { origin, kind, ...gain };
  });
}

/**
 * What the pins of a load gained, all together. Null without pins, for a load that is not full, and when it is not known what the
 * page takes without pins.
 *
 * @param all stored loads, oldest first
 * @param reference see `findPinOutcomes`
 */
export function findPinGain(
  load: KnownLoad,
  all: readonly KnownLoad[],
  reference: Reference | null = null,
): PinGain | null {
  if (!hasPins(load) || !showsLoadTime(load, all)) return null;
  const after = [...findComparableLoads(load, all), load].filter((each) => hasSamePins(each, load));
  return compareWith(findReference(load, all, reference), after.map(pltOf));
}

/**
 * What a page takes without pins: its later visits, as loads with pins are later ones; else what was known when the pins were
 * made; else what a load before them predicted for later visits.
 */
function findReference(
  load: KnownLoad,
  all: readonly KnownLoad[],
  known: Reference | null,
): Reference | null {
  const free = findComparableLoads(load, all).filter((each) => !hasPins(each));
  const beforeMs = visitsUntil(load, all).selectLater(free).map(pltOf);
  if (beforeMs.length > 0) return { beforeMs, estimatedMs: null };
  if (known !== null && (known.beforeMs.length > 0 || known.estimatedMs !== null)) return known;
  const decision = free.map((each) => factsOf(each).decision).findLast((each) => each !== null);
  return decision ? { beforeMs, estimatedMs: decision.laterPltMs } : null;
}

function compareWith(reference: Reference | null, after: readonly number[]): PinGain | null {
  if (reference === null) return null;
  const { beforeMs, estimatedMs } = reference;
  if (beforeMs.length > 0) {
    const gain = compareLoads(beforeMs, after);
    // A single load may be slow for reasons of its own: it shows harm only where it is far beyond the scatter of those before.
    const isOnce = gain.effect === 'harms' && after.length === 1 && judgeSwitch(beforeMs, after) !== 'slower';
    return isOnce ? { ...gain, effect: 'slower-once' } : gain;
  }
  return estimatedMs === null ? null : compareWithEstimate(estimatedMs, after);
}

/** Compares loads with an estimate, which counts as one load and shows no harm: it may be wrong where loads are slower. */
function compareWithEstimate(estimatedMs: number, after: readonly number[]): PinGain {
  const gain = compareLoads([estimatedMs], after);
  return { ...gain, beforeLoads: 0, effect: gain.effect === 'gains' ? 'gains' : 'unclear' };
}

/** Whether a load was made with a pin. */
export function isHeld({ pinned }: Pick<KnownLoad, 'pinned'>, origin: string, kind: PinKind): boolean {
  const protocol = pinned?.[origin];
  return protocol !== undefined && (kind === 'avoid-h3' ? protocol !== 'h3' : protocol === kind);
}

/** Compares the logarithms of load times, whose scatter does not depend on the page. */
export function compareLoads(before: readonly number[], after: readonly number[]): PinGain {
  const [own, other] = [before.map(Math.log), after.map(Math.log)];
  const squares = sumOfSquares(own) + sumOfSquares(other);
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
