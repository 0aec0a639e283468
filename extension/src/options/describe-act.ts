import { type PinKind, PROTOCOL_NAME } from '@hopwise/contract';
import { durations } from '@hopwise/pageload-emulator';
import type { Act, EndCause } from '../autopilot/act.ts';
import { MAX_CHECKED_LOADS } from '../autopilot/sequential-check.ts';
import { compareLoads } from '../evidence/pin-outcomes.ts';
import { groupBy } from '../recorder/group-by.ts';
import { formatCount, formatGain, formatOrigin, keepUnitsTogether } from '../ui/format.ts';

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
  const tried = end?.cause === 'refused' ? 'could not be ' : '';
  const byKind = groupBy(pins, ({ kind }) => kind);
  return [...byKind].map(([kind, of]) => `${listOrigins(of)} ${tried}${describeKind(kind)}`).join('; ');
}

const describeKind = (kind: PinKind) =>
  kind === 'avoid-h3' ? 'kept off HTTP/3' : `held to ${PROTOCOL_NAME[kind]}`;

function listOrigins(pins: readonly { origin: string }[]): string {
  const [first, ...more] = pins.map(({ origin }) => formatOrigin(origin));
  return more.length === 0 ? first! : `${first} and ${formatCount(more.length, 'other origin')}`;
}

function describeReason({ trigger, predicted }: Act): string {
  if (trigger === 'rule' || predicted === null) return 'Your rule for this site.';
  const [before, after] = durations(predicted.beforeMs, predicted.afterMs);
  return `Predicted: ${before} → ${after}.`;
}

/** `Measured: 4.3 s → 2.3 s over 3 loads before and 2 after, which saves 2.0 s.` */
function describeTimes({ beforeMs, afterMs }: Act): string {
  if (beforeMs.length === 0 || afterMs.length === 0) return '';
  const outcome = compareLoads(beforeMs, afterMs);
  const [before, after] = durations(outcome.beforeMs, outcome.afterMs);
  const loads = `over ${formatCount(beforeMs.length, 'load')} before and ${afterMs.length} after`;
  const gain = outcome.beforeMs - outcome.afterMs;
  const words = gain > 0 ? `saves ${formatGain(outcome.beforeMs, outcome.afterMs)}` : 'saves nothing';
  return `Measured: ${before} → ${after} ${loads}, which ${words}.`;
}

function describeState({ state, end, afterMs }: Act): string {
  if (end !== null) return describeEnd(end.cause, end.reason);
  if (state === 'kept') return 'Stays.';
  return `Checking: ${afterMs.length} of ${MAX_CHECKED_LOADS} loads measured.`;
}

const ENDS: Record<EndCause, string> = {
  trouble: 'Undone at once, because it failed',
  slower: 'Undone, because loads took longer than before.',
  'no-gain': 'Undone, because loads were not faster than before.',
  you: 'Ended by you.',
  off: 'Undone when you switched it off.',
  rule: 'Undone when your rules changed.',
  network: 'Undone on a change of network.',
  expired: 'Ended after a day; the next load decides anew.',
  closed: 'Ended with the browser; the next load decides anew.',
  refused: 'Not done',
};

function describeEnd(cause: EndCause, reason: string): string {
  const words = ENDS[cause];
  if (words.endsWith('.')) return words;
  return reason === '' ? `${words}.` : `${words}: ${reason}${/[.!?]$/.test(reason) ? '' : '.'}`;
}
