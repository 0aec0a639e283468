import {
  type Action,
  type Assignment,
  type Baseline,
  type Decision,
  type Evidence,
  type Language,
  type LoadTime,
  type MeasuredLoads,
  PROTOCOLS,
  type Protocol,
  type Verification,
} from '@hopwise/contract';
import type { Decided, DecisionFigures } from '../decide/decide.ts';
import type { FitFigures } from '../decide/fit.ts';
import type { Knowledge } from '../decide/knowledge.ts';
import { isSameAction, promisingAction } from '../decide/pick-action.ts';
import { fastestProtocols, isAboutEqual, ranked, standingOf } from '../decide/standing.ts';
import { describeMisfit } from './fit-words.ts';
import type { Behaviour, FastestChance, FastestRole, Sentences, Sureness } from './sentences/english.ts';
import { SENTENCES } from './sentences/languages.ts';
import { withoutScheme } from './words.ts';

/** More origins are named by their number. */
const NAMED_ORIGINS = 2;

/** Adds the sentences to a decision's figures. */
export function describeDecision(
  { figures, fit }: Pick<Decided, 'figures' | 'fit'>,
  knowledge: Knowledge,
  sentences: Sentences,
): Decision {
  const { kept, isBlocked, isHttp: _, ...decision } = figures;
  const isPinned = Object.keys(knowledge.pinned ?? {}).length > 0;
  const seenMs = isPinned || fit.explained === null ? null : fit.recordedMs;
  return {
    ...decision,
    verdict: isBlocked
      ? misfitVerdict(fit, figures, sentences)
      : verdictOf(figures, { seenMs, isVerified: knowledge.verification !== undefined }, sentences),
    evidence: evidenceOf(figures, knowledge, sentences),
    changed: changeOf(figures, knowledge.earlier ?? null, sentences.evidence),
  };
}

/** What to do and what it gains, in one line. */
function verdictOf(
  figures: DecisionFigures,
  { seenMs, isVerified }: { seenMs: number | null; isVerified: boolean },
  sentences: Sentences,
): string {
  const { kind, actions } = figures;
  if (kind === 'act') {
    return effectOf(figures, timeByItself(figures, seenMs), sentences);
  }
  if (kind === 'unsure') {
    const promising = promisingAction(actions)!;
    const instruction = instructionOf(promising, figures, sentences);
    return sentences.verdict.promising(instruction, promising.gainMs, promising.helps, isVerified);
  }
  return leaveVerdict(figures, sentences);
}

/** What to do and what it gains. */
function effectOf(
  decision: Pick<Decision, 'action' | 'baseline'>,
  beforeMs: number,
  sentences: Sentences,
): string {
  const { action } = decision;
  const instruction = instructionOf(action, decision, sentences);
  return sentences.verdict.effect(instruction, beforeMs, action.time.pltMs, surenessOf(action));
}

/** A decision to act with the medians of loads that were made for it, without an action and under it, as its figures. */
export function withMeasuredMedians(
  decision: Decision,
  ownMs: number,
  actionMs: number,
  language: Language = 'en',
): Decision {
  const baseline = { ...decision.baseline, ...around(decision.baseline, ownMs), measured: true };
  const gainMs = ownMs - actionMs;
  const time = around(decision.action.time, actionMs);
  const action = { ...decision.action, time, gainMs, gain: gainMs / ownMs, measured: true };
  const actions = decision.actions.map((each) => (isSameAction(each, action) ? action : each));
  const verdict = effectOf({ baseline, action }, ownMs, SENTENCES[language]);
  return { ...decision, baseline, action, actions, verdict };
}

/** A load time with another median. */
const around = ({ low, high }: LoadTime, pltMs: number): LoadTime => ({
  pltMs,
  low: Math.min(low, pltMs),
  high: Math.max(high, pltMs),
});

/** From this gain over the load just seen on, a share of its time, the load just seen is what an action is compared with. */
const MIN_SEEN_GAIN = 0.05;

/**
 * What a page takes without an action, to compare the action with:
 *
 * - the measured time, where loads with and without the action were measured,
 * - the expected time, from which the action's gain is counted, where later visits are faster than the first, or where the load that the
 *   person has just seen was out of the ordinary, as fast as the action promises, or so slow that the gain would be more than the action is
 *   known to give,
 * - else the time of the load just seen.
 *
 * @param seenMs null where that load was not the browser's own
 */
export function timeByItself(
  { baseline, action }: Pick<Decision, 'baseline' | 'action'>,
  seenMs: number | null,
): number {
  if (baseline.measured && action.measured) return baseline.pltMs;
  const expectedMs = action.time.pltMs + action.gainMs;
  if (seenMs === null || seenMs < baseline.low || seenMs > baseline.high) return expectedMs;
  if (expectedMs < baseline.pltMs) return expectedMs;
  const mostMs = Math.max(action.gainMs, baseline.emulated.pltMs - action.emulated.pltMs);
  const seenGainMs = seenMs - action.time.pltMs;
  return seenGainMs >= MIN_SEEN_GAIN * seenMs && seenGainMs <= mostMs ? seenMs : expectedMs;
}

/** How sure the effect of an action is. */
export function surenessOf({ measured, sure }: Pick<Action, 'measured' | 'sure'>): Sureness {
  if (measured) return 'measured';
  return sure ? 'sure' : 'likely';
}

/** Why the recorded load is not understood; verified where something could be changed. */
function misfitVerdict(
  { misfits: [misfit] }: FitFigures,
  { kind }: DecisionFigures,
  { fit, verdict }: Sentences,
): string {
  return verdict.notUnderstood(describeMisfit(misfit!, fit), kind === 'unsure');
}

function leaveVerdict(figures: DecisionFigures, sentences: Sentences): string {
  const { verdict } = sentences;
  switch (reasonToLeave(figures)) {
    case 'equal':
      return verdict.equal(isLong(figures));
    case 'right':
      return verdict.right(isLong(figures));
    case 'server':
      return verdict.nothingToSwitch(offerAdvice(figures, sentences));
    case 'no-sure-gain':
      return figures.isHttp ? verdict.nothingToSwitch(verdict.httpsFirst()) : verdict.noSureGain();
  }
}

/** An action that reaches both this chance and this share of the load time may well help: the browser's own way is then not called the fastest. */
const MAY_HELP = { chance: 0.5, gain: 0.05 };

/**
 * Why a page is left as it is: all protocols are about as fast; the browser's own is the fastest; only its servers could do better;
 * or no change surely gains enough.
 */
export type ReasonToLeave = 'equal' | 'right' | 'server' | 'no-sure-gain';

export function reasonToLeave({
  protocols,
  baseline,
  actions,
}: Pick<Decision, 'protocols' | 'baseline' | 'actions'>): ReasonToLeave {
  const fastest = fastestProtocols(protocols);
  if (fastest.length === Object.keys(protocols).length && fastest.length > 1) return 'equal';
  if (findOffer(actions) !== undefined) return 'server';
  const ownMs = Math.min(baseline.pltMs, baseline.laterPltMs);
  const mayHelp = ({ helps, time }: Action) =>
    helps >= MAY_HELP.chance && time.pltMs < (1 - MAY_HELP.gain) * ownMs;
  return isOwnFastest({ protocols, baseline }) && !actions.some(mayHelp) ? 'right' : 'no-sure-gain';
}

/** Who waits longer than this turns to something else (Nielsen, Usability Engineering, 1993, section 5.5). */
const LONG_MS = 10_000;

/** Whether a page takes longer than people wait: it is not called good, even where no protocol makes it faster. */
export const isLong = ({ baseline }: Pick<Decision, 'baseline'>): boolean => baseline.pltMs > LONG_MS;

/** Whether the browser by itself uses only what is among the fastest, or takes about as long with what it mixes. */
function isOwnFastest({ protocols, baseline }: Pick<Decision, 'protocols' | 'baseline'>): boolean {
  const fastest = fastestProtocols(protocols);
  const [first] = ranked(protocols);
  if (Object.values(baseline.protocols).every((own) => fastest.includes(own))) return true;
  const ownMs = Math.min(baseline.pltMs, baseline.laterPltMs);
  return first !== undefined && isAboutEqual(ownMs, first.pltMs);
}

const findOffer = (actions: readonly Action[]): Action | undefined =>
  actions.find(({ kind, worthwhile }) => kind === 'offer-h3' && worthwhile);

/** Names the servers, as HTTP/3 for every origin may take another time. */
function offerAdvice({ actions, baseline }: DecisionFigures, sentences: Sentences): string {
  const { origins, time } = findOffer(actions)!;
  return sentences.verdict.offerH3(nameHosts(origins, sentences), baseline.pltMs, time.pltMs);
}

/** An action in the imperative, without its effect. */
function instructionOf(
  action: Action,
  { baseline }: Pick<Decision, 'baseline'>,
  sentences: Sentences,
): string {
  const { instructions } = sentences;
  const offering = Object.values(baseline.protocols).filter((protocol) => protocol === 'h3').length;
  const hosts = nameHosts(action.origins, sentences);
  switch (action.kind) {
    case 'leave':
      return instructions.leave();
    case 'avoid-h3': {
      const isWholePage = action.origins.length === offering && offering > NAMED_ORIGINS;
      return instructions.avoidH3(isWholePage ? null : hosts);
    }
    case 'force-protocol':
      return action.protocol === null
        ? instructions.mix(hosts)
        : instructions.forceProtocol(hosts, action.protocol);
    case 'offer-h3':
      return instructions.offerH3(hosts);
    case 'withdraw-h3':
      return instructions.withdrawH3(hosts);
  }
}

/** The hosts, or their number with the heaviest one. */
function nameHosts(origins: readonly string[], { bothHosts, firstHost }: Sentences): string {
  const [first = '', second, ...more] = origins.map(withoutScheme);
  if (second === undefined) return first;
  return more.length === 0 ? bothHosts(first, second) : firstHost(first, more.length + 1);
}

function roleOfFastest(figures: DecisionFigures): FastestRole {
  const [fastest] = fastestProtocols(figures.protocols);
  switch (figures.kind === 'leave' && !figures.isBlocked ? reasonToLeave(figures) : null) {
    case 'right':
      return Object.values(figures.baseline.protocols).every((own) => own === fastest) ? 'own' : 'alike';
    case 'no-sure-gain':
      return 'unsure';
    default:
      return 'other';
  }
}

/** How sure it is that the fastest protocol is the fastest: by the decision's own chance, which every part of an answer says. */
function chanceOfFastest(figures: DecisionFigures): FastestChance {
  const [fastest] = fastestProtocols(figures.protocols);
  const { best, confidence, decided } = standingOf(figures);
  if (best !== fastest) return null;
  return decided ? 'decided' : confidence;
}

/** The protocols side by side: `HTTP/1.1 and HTTP/2 are about equal here; HTTP/3 takes 5 times as long.` */
function comparisonOf(figures: DecisionFigures, evidence: Sentences['evidence']): string {
  const { protocols } = figures;
  const times = ranked(protocols);
  const [first] = times;
  if (first === undefined) return '';
  const equal = fastestProtocols(protocols);
  const slower = times.filter(({ protocol }) => !equal.includes(protocol));
  return evidence.comparison(
    equal,
    slower.map(({ protocol, pltMs }) => ({ protocol, ratio: pltMs / first.pltMs })),
    roleOfFastest(figures),
    chanceOfFastest(figures),
  );
}

function evidenceOf(
  figures: DecisionFigures,
  knowledge: Knowledge,
  { evidence: words }: Sentences,
): Evidence[] {
  const evidence: Evidence[] = [];
  // The verdict itself may say it.
  if (figures.isBlocked || figures.kind !== 'leave' || reasonToLeave(figures) !== 'equal')
    evidence.push({ kind: 'emulation', text: comparisonOf(figures, words) });
  if (knowledge.verification) {
    const medians = mediansOf(knowledge.verification);
    const without = PROTOCOLS.filter(
      (protocol) => knowledge.verification!.protocols[protocol]?.medianMs === null,
    );
    evidence.push({ kind: 'verification', text: words.transfers(medians, without) });
  }
  for (const [behaviour, pltMs] of loadsByBehaviour(knowledge.loads ?? [], figures.baseline)) {
    const text = words.loads(pltMs.length, behaviour, Math.min(...pltMs), Math.max(...pltMs));
    evidence.push({ kind: 'loads', text });
  }
  if (figures.kept) evidence.push({ kind: 'earlier-decision', text: words.earlierStands() });
  return evidence;
}

/** Load times by what the browser did. */
function loadsByBehaviour(
  loads: readonly MeasuredLoads[],
  { protocols }: Pick<Baseline, 'protocols'>,
): Map<Behaviour, number[]> {
  const origins = Object.keys(protocols);
  const byBehaviour = new Map<Behaviour, number[]>();
  for (const { under, pltMs } of loads) {
    const behaviour = under === 'browser' ? 'browser' : pinsOf(under, origins);
    byBehaviour.set(behaviour, [...(byBehaviour.get(behaviour) ?? []), ...pltMs]);
  }
  return byBehaviour;
}

/** The one protocol that a whole page was pinned to, or only that it had pins. */
function pinsOf(pinned: Assignment, origins: readonly string[]): Behaviour {
  const [first, ...more] = new Set(origins.map((origin) => pinned[origin]));
  return first !== undefined && more.length === 0 ? first : 'pins';
}

function mediansOf({ protocols }: Verification): { protocol: Protocol; totalMs: number }[] {
  return PROTOCOLS.flatMap((protocol) => {
    const totalMs = protocols[protocol]?.medianMs ?? null;
    return totalMs === null ? [] : { protocol, totalMs };
  });
}

function changeOf(
  { action }: DecisionFigures,
  earlier: Decision | null,
  { changed }: Sentences['evidence'],
): string | null {
  return earlier === null || isSameAction(earlier.action, action) ? null : changed(earlier.verdict);
}
