import { type PinKind, PROTOCOL_NAME } from '@hopwise/contract';
import { MAX_CHECKED_LOADS } from '@hopwise/model';
import type { Act, EndCause } from '../autopilot/act.ts';
import { compareLoads } from '../evidence/pin-outcomes.ts';
import { type MessageKey, plural, t } from '../language/translate.ts';
import { groupBy } from '../recorder/group-by.ts';
import { formatDurations, formatGain, formatOrigin, keepUnitsTogether } from '../ui/format.ts';

/** An act in words: what was done, why, and what came of it. */
export interface ActText {
  done: string;
  why: string;
  result: string;
}

export function describeAct(act: Act): ActText {
  return {
    done: describePins(act),
    why: keepUnitsTogether(describeReason(act)),
    result: keepUnitsTogether([describeTimes(act), describeState(act)].filter(Boolean).join(' ')),
  };
}

function describePins({ pins, end }: Act): string {
  const isRefused = end?.cause === 'refused';
  const byKind = groupBy(pins, ({ kind }) => kind);
  return [...byKind].map(([kind, of]) => describePin(kind, listOrigins(of), isRefused)).join('; ');
}

function describePin(kind: PinKind, origins: string, isRefused: boolean): string {
  if (kind === 'avoid-h3') return t(isRefused ? 'actCouldNotAvoid' : 'actAvoided', { origins });
  return t(isRefused ? 'actCouldNotHold' : 'actHeld', { origins, protocol: PROTOCOL_NAME[kind] });
}

function listOrigins(pins: readonly { origin: string }[]): string {
  const [first, ...more] = pins.map(({ origin }) => formatOrigin(origin));
  return more.length === 0 ? first! : plural('actOrigins', more.length, { first: first! });
}

function describeReason({ trigger, predicted }: Act): string {
  if (trigger === 'trial') return t('actTrial');
  if (trigger === 'traffic') return t('actTraffic');
  if (trigger === 'rule' || predicted === null) return t('actRule');
  const [before, after] = formatDurations(predicted.beforeMs, predicted.afterMs);
  return t('actPredicted', { before, after });
}

/** `Measured: 4.3 s → 2.3 s over 3 loads before and 2 after, which saves 2.0 s.` */
function describeTimes({ beforeMs, afterMs }: Act): string {
  if (beforeMs.length === 0 || afterMs.length === 0) return '';
  const outcome = compareLoads(beforeMs, afterMs);
  const [before, after] = formatDurations(outcome.beforeMs, outcome.afterMs);
  const values = { before, after, loads: plural('loads', beforeMs.length), later: afterMs.length };
  if (outcome.beforeMs <= outcome.afterMs) return t('actMeasuredNothing', values);
  return t('actMeasuredGain', { ...values, gain: formatGain(outcome.beforeMs, outcome.afterMs) });
}

function describeState({ state, end, afterMs }: Act): string {
  if (end !== null) return describeEnd(end.cause, end.reason);
  if (state === 'kept') return t('actKept');
  return t('actChecking', { done: afterMs.length, all: MAX_CHECKED_LOADS });
}

const ENDS = {
  tried: 'actEndTried',
  trouble: 'actEndTrouble',
  slower: 'actEndSlower',
  'no-gain': 'actEndNoGain',
  you: 'actEndYou',
  off: 'actEndOff',
  rule: 'actEndRule',
  network: 'actEndNetwork',
  expired: 'actEndExpired',
  closed: 'actEndClosed',
  refused: 'actEndRefused',
} as const satisfies Record<EndCause, MessageKey>;

function describeEnd(cause: EndCause, reason: string): string {
  const words = t(ENDS[cause]);
  if (words.endsWith('.')) return words;
  return reason === '' ? `${words}.` : `${words}: ${reason}${/[.!?]$/.test(reason) ? '' : '.'}`;
}
