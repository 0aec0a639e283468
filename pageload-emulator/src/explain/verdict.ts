import {
  type Action,
  type Decision,
  type Evidence,
  type MeasuredLoads,
  PROTOCOL_NAME,
  PROTOCOLS,
  type Protocol,
  type Verification,
} from '@hopwise/contract';
import type { DecisionFigures } from '../decide/decide.ts';
import type { Knowledge } from '../decide/knowledge.ts';
import { isSameAction } from '../decide/pick-action.ts';
import { median } from '../util/statistics.ts';
import { count, duration, durations, percent, withoutScheme } from './words.ts';

/** Load times within this share of the fastest are called equal. */
const EQUAL = 0.05;
/** From this chance on an action's effect is called sure. */
const SURE = 0.95;
/** More origins are named by their number. */
const NAMED_ORIGINS = 2;
/** A protocol this many times slower than the fastest is named as such. */
const NOTABLY_SLOWER = 1.5;

/** Adds the sentences to a decision's figures. */
export function wordDecision(figures: DecisionFigures, knowledge: Knowledge): Decision {
  const { kept, ...decision } = figures;
  return {
    ...decision,
    verdict: verdictOf(figures),
    evidence: evidenceOf(figures, knowledge),
    changed: changeOf(figures, knowledge.earlier ?? null),
  };
}

/** What to do and what it gains, in one line. */
export function verdictOf(figures: DecisionFigures): string {
  const { kind, action, baseline, actions, unexplained } = figures;
  if (kind === 'act') {
    const [from, to] = durations(baseline.pltMs, action.time.pltMs);
    const about = action.measured ? '' : 'about ';
    const sure = action.measured ? 'measured' : action.helps >= SURE ? 'sure' : 'likely';
    return `${instructionOf(action, figures)}: ${from} → ${about}${to} (${sure})`;
  }
  if (kind === 'unsure') {
    const promising = promisingAction(actions)!;
    if (unexplained !== null && promising.gainMs <= 0) {
      const [took, expected] = durations(unexplained.recordedMs, unexplained.expectedMs);
      return `Leave it for now. This load took ${took} where about ${expected} was expected: verify to find out why`;
    }
    const gain = duration(Math.min(promising.gainMs, baseline.laterPltMs - promising.time.pltMs));
    return `Leave it for now. ${instructionOf(promising, figures)} may save ${gain} (chance ${percent(promising.helps)}): verify to be sure`;
  }
  return leaveVerdict(figures);
}

/** The browser's action of which most can be hoped for; null when there is none but to leave it. */
export function promisingAction(actions: readonly Action[]): Action | null {
  const own = actions.filter(({ needs, kind }) => kind !== 'leave' && !needs.includes('server'));
  return own.reduce<Action | null>(
    (a, b) => (a === null || b.gainMs * b.helps > a.gainMs * a.helps ? b : a),
    null,
  );
}

function leaveVerdict(figures: DecisionFigures): string {
  const { protocols, baseline } = figures;
  const main = mainProtocol(figures);
  const times = ranked(protocols);
  const fastestMs = times[0]?.pltMs ?? 0;
  const isEqual = times.every(({ pltMs }) => pltMs <= (1 + EQUAL) * fastestMs);
  if (isEqual && times.length > 1) return 'The protocols are about equal here: leave it';
  const advice = offerAdvice(figures);
  if (advice !== null) return `Nothing to switch in the browser. ${advice}`;
  const isOnlyOne = new Set(Object.values(baseline.protocols)).size === 1;
  if ((protocols[main]?.pltMs ?? Number.POSITIVE_INFINITY) <= (1 + EQUAL) * fastestMs) {
    return isOnlyOne
      ? `${PROTOCOL_NAME[main]} everywhere is right: leave it`
      : "The browser's own choice is right: leave it";
  }
  return 'Leave it: no change surely gains 5%';
}

function offerAdvice({ actions, baseline }: DecisionFigures): string | null {
  const offer = actions.find(({ kind, worthwhile }) => kind === 'offer-h3' && worthwhile);
  if (offer === undefined) return null;
  const [from, to] = durations(baseline.laterPltMs, offer.time.pltMs);
  return `If you run the server: with HTTP/3 ${from} → about ${to}`;
}

/** The protocol that carries most origins by itself. */
function mainProtocol({ baseline }: DecisionFigures): Protocol {
  const protocols = Object.values(baseline.protocols);
  const carried = (protocol: Protocol) => protocols.filter((each) => each === protocol).length;
  return PROTOCOLS.reduce((a, b) => (carried(b) >= carried(a) ? b : a));
}

/** An action in the imperative, without its effect. */
function instructionOf(action: Action, { baseline }: DecisionFigures): string {
  const offering = Object.values(baseline.protocols).filter((protocol) => protocol === 'h3').length;
  switch (action.kind) {
    case 'leave':
      return 'Leave it';
    case 'avoid-h3':
      return `Keep ${action.origins.length === offering && offering > NAMED_ORIGINS ? 'this page' : names(action.origins)} off HTTP/3`;
    case 'hold':
      return action.protocol === null
        ? `Mix protocols for ${names(action.origins)}`
        : `Hold ${names(action.origins)} to ${PROTOCOL_NAME[action.protocol]}`;
    case 'offer-h3':
      return `Offer HTTP/3 at ${names(action.origins)}`;
    case 'withdraw-h3':
      return `Stop offering HTTP/3 at ${names(action.origins)}`;
  }
}

/** The hosts, or their number with the heaviest one. */
function names(origins: readonly string[]): string {
  const hosts = origins.map(withoutScheme);
  if (hosts.length <= NAMED_ORIGINS) return hosts.join(' and ');
  return `${hosts[0]} and ${hosts.length - 1} more origins`;
}

function ranked(protocols: Decision['protocols']): { protocol: Protocol; pltMs: number }[] {
  return PROTOCOLS.flatMap((protocol) => {
    const time = protocols[protocol];
    return time === undefined ? [] : { protocol, pltMs: time.pltMs };
  }).sort((a, b) => a.pltMs - b.pltMs);
}

/** The protocols side by side: `HTTP/1.1 and HTTP/2 are about equal here; HTTP/3 takes 5 times as long.` */
export function comparisonOf(protocols: Decision['protocols']): string {
  const times = ranked(protocols);
  const [first] = times;
  if (first === undefined) return '';
  const equal = times.filter(({ pltMs }) => pltMs <= (1 + EQUAL) * first.pltMs);
  const slower = times.filter((each) => !equal.includes(each));
  const list = equal.map(({ protocol }) => PROTOCOL_NAME[protocol]);
  const lead =
    list.length === 1
      ? `${list[0]} is the fastest`
      : `${list.slice(0, -1).join(', ')} and ${list.at(-1)} are about equal here`;
  const rest = slower.map(({ protocol, pltMs }) => {
    const ratio = pltMs / first.pltMs;
    return ratio >= NOTABLY_SLOWER
      ? `${PROTOCOL_NAME[protocol]} takes ${ratio.toFixed(ratio < 3 ? 1 : 0)} times as long`
      : `${PROTOCOL_NAME[protocol]} takes ${percent(ratio - 1)} longer`;
  });
  return `${[lead, ...rest].join('; ')}.`;
}

function evidenceOf({ protocols, kept }: DecisionFigures, knowledge: Knowledge): Evidence[] {
  const evidence: Evidence[] = [{ kind: 'emulation', text: comparisonOf(protocols) }];
  if (knowledge.verification)
    evidence.push({ kind: 'verification', text: transfersOf(knowledge.verification) });
  for (const [behaviour, pltMs] of loadsByBehaviour(knowledge.loads ?? [])) {
    const [low, high] = durations(Math.min(...pltMs), Math.max(...pltMs));
    const range = low === high ? low : `${low} to ${high}`;
    evidence.push({
      kind: 'loads',
      text: `${count(pltMs.length, 'measured load')} ${behaviour} took ${range}.`,
    });
  }
  if (kept)
    evidence.push({
      kind: 'earlier-decision',
      text: 'The earlier answer stands: no other is surely better.',
    });
  return evidence;
}

/** Load times by what the browser did, in words. */
function loadsByBehaviour(loads: readonly MeasuredLoads[]): Map<string, number[]> {
  const byBehaviour = new Map<string, number[]>();
  for (const { under, pltMs } of loads) {
    const behaviour = under === 'browser' ? 'by the browser itself' : pinsOf(Object.values(under));
    byBehaviour.set(behaviour, [...(byBehaviour.get(behaviour) ?? []), ...pltMs]);
  }
  return byBehaviour;
}

function pinsOf(protocols: readonly Protocol[]): string {
  const [first] = protocols;
  const isOne = first !== undefined && protocols.every((protocol) => protocol === first);
  return isOne ? `pinned to ${PROTOCOL_NAME[first]}` : 'with pins';
}

function transfersOf({ protocols }: Verification): string {
  const times = PROTOCOLS.flatMap((protocol) => {
    const rounds = protocols[protocol]?.rounds ?? [];
    return rounds.length === 0
      ? []
      : `${duration(median(rounds.map(({ totalMs }) => totalMs)))} over ${PROTOCOL_NAME[protocol]}`;
  });
  return times.length === 0 ? 'No transfer succeeded.' : `The transfers took ${times.join(', ')}.`;
}

function changeOf({ action }: DecisionFigures, earlier: Decision | null): string | null {
  if (earlier === null || isSameAction(earlier.action, action)) return null;
  return `Before, the answer was: ${earlier.verdict}.`;
}
