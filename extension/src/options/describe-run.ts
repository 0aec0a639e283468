import { EVERY_ORIGIN, groupBy, median, type PinKind } from '@hopwise/contract';
import { MAX_CHECKED_LOADS } from '@hopwise/model';
import type { AutopilotRun, EndCause } from '../autopilot/runs/autopilot-run.ts';
import { compareLoads } from '../evidence/pin-outcomes.ts';
import { type MessageKey, plural, t } from '../language/translate.ts';
import { formatDurations, formatGain, formatOrigin, keepUnitsTogether, nameVersion } from '../ui/format.ts';

/** A run of the autopilot in words: what was done, why, and what came of it. */
interface RunText {
  done: string;
  why: string;
  result: string;
}

export function describeRun(run: AutopilotRun): RunText {
  return {
    done: describePins(run),
    why: keepUnitsTogether(describeReason(run)),
    result: keepUnitsTogether([describeTimes(run), describeState(run)].filter(Boolean).join(' ')),
  };
}

function describePins({ pins, end }: AutopilotRun): string {
  const isRefused = end?.cause === 'refused';
  if (pins.some(({ origin }) => origin === EVERY_ORIGIN))
    return t(isRefused ? 'runCouldNotAvoidAll' : 'runAvoidedAll');
  const byKind = groupBy(pins, ({ kind }) => kind);
  return [...byKind].map(([kind, of]) => describePin(kind, listOrigins(of), isRefused)).join('; ');
}

function describePin(kind: PinKind, origins: string, isRefused: boolean): string {
  if (kind === 'avoid-h3') return t(isRefused ? 'runCouldNotAvoid' : 'runAvoided', { origins });
  return t(isRefused ? 'runCouldNotHold' : 'runHeld', { origins, protocol: nameVersion(kind) });
}

function listOrigins(pins: readonly { origin: string }[]): string {
  const [first, ...more] = pins.map(({ origin }) => formatOrigin(origin));
  return more.length === 0 ? first! : plural('runOrigins', more.length, { first: first! });
}

function describeReason({ trigger, predicted }: AutopilotRun): string {
  if (trigger === 'trial') return t('runTrial');
  if (trigger === 'traffic') return t('runTraffic');
  if (trigger === 'network') return t('runNetwork');
  if (trigger === 'rule' || predicted === null) return t('runRule');
  const [before, after] = formatDurations(predicted.beforeMs, predicted.afterMs);
  return t('runPredicted', { before, after });
}

/** `Measured: 4.3 s → 2.3 s over 3 loads before and 2 after, which saves 2.0 s.` */
function describeTimes({ beforeMs, afterMs, predicted }: AutopilotRun): string {
  if (afterMs.length === 0) return '';
  if (beforeMs.length === 0) return predicted === null ? '' : describeEstimate(predicted.beforeMs, afterMs);
  const outcome = compareLoads(beforeMs, afterMs);
  const [before, after] = formatDurations(outcome.beforeMs, outcome.afterMs);
  const values = { before, after, loads: plural('loads', beforeMs.length), later: afterMs.length };
  if (outcome.beforeMs > outcome.afterMs)
    return t('runMeasuredGain', { ...values, gain: formatGain(outcome.beforeMs, outcome.afterMs) });
  if (before === after) return t('runMeasuredNothing', values);
  return t('runMeasuredLoss', { ...values, loss: formatGain(outcome.afterMs, outcome.beforeMs) });
}

function describeEstimate(estimatedMs: number, afterMs: readonly number[]): string {
  const [before, after] = formatDurations(estimatedMs, median(afterMs));
  return t('runMeasuredEstimate', { before, after, loads: plural('loads', afterMs.length) });
}

function describeState({ state, end, afterMs, spared }: AutopilotRun): string {
  if (end !== null) return describeEnd(end.cause, end.reason);
  if (spared) return t('runSpared', { origin: formatOrigin(spared.origin) });
  if (state === 'kept') return t('runKept');
  return t('runChecking', { done: afterMs.length, all: MAX_CHECKED_LOADS });
}

const ENDS = {
  tried: 'runEndTried',
  trouble: 'runEndTrouble',
  slower: 'runEndSlower',
  'no-gain': 'runEndNoGain',
  unsure: 'runEndUnsure',
  you: 'runEndYou',
  off: 'runEndOff',
  rule: 'runEndRule',
  network: 'runEndNetwork',
  'network-open': 'runEndNetworkOpen',
  expired: 'runEndExpired',
  closed: 'runEndClosed',
  refused: 'runEndRefused',
} as const satisfies Record<EndCause, MessageKey>;

function describeEnd(cause: EndCause, reason: string): string {
  const words = t(ENDS[cause]);
  if (words.endsWith('.')) return words;
  return reason === '' ? `${words}.` : `${words}: ${reason}${/[.!?]$/.test(reason) ? '' : '.'}`;
}
