import {
  type Action,
  type Assignment,
  type Decision,
  type Fit,
  PROTOCOL_NAME,
  type Prediction,
} from '@hopwise/contract';
import type { PinGain } from '../evidence/pin-outcomes.ts';
import { plural, t } from '../language/translate.ts';
import { builder, type ViewOptions } from './dom.ts';
import { formatDuration, formatList, formatOrigin, keepUnitsTogether } from './format.ts';
import { describeHeadline } from './headline.ts';
import { decideBeyondPins, type Headline, promisedBy } from './pin-gain.ts';

interface SummaryOptions extends ViewOptions {
  /** Controls below the verdict that carry it out. */
  controls?: readonly HTMLElement[] | undefined;
  /** What the load's pins gained: a measurement is stated before the prediction's verdict. */
  pinGain?: PinGain | null | undefined;
  /** Protocols that the load's pins held its origins to. */
  pinned?: Assignment | null | undefined;
  /** What the pins in force do, where the decision recommends another action. */
  promised?: Action | null | undefined;
}

/** The verdict, what it rests on, and limits of the prediction. */
export function renderSummary(prediction: Prediction, options: SummaryOptions = {}): HTMLElement {
  const el = builder(options);
  const { decision } = prediction;
  const { lead, why } = describeShown(prediction, options);
  return el(
    'section',
    {
      class: 'hw-summary',
      'data-decision': decision.kind,
      'data-action': decision.action.kind,
      'data-pins': options.pinGain?.effect ?? 'none',
    },
    el('h2', { class: 'hw-headline' }, keepUnitsTogether(lead)),
    ...renderInstruction(prediction, options),
    why === '' ? null : el('p', { class: 'hw-why' }, keepUnitsTogether(why)),
    ...(options.controls ?? []),
    el('div', { class: 'hw-grounds' }, ...renderGrounds(prediction, options)),
  );
}

function describeShown(
  prediction: Prediction,
  { pinGain, pinned, promised = null }: SummaryOptions,
): Headline {
  return describeHeadline(promisedBy(prediction, promised), pinGain, pinned);
}

/** What a verdict rests on, and limits of the prediction. */
export function renderGrounds(prediction: Prediction, options: SummaryOptions = {}): HTMLElement[] {
  const el = builder(options);
  const { page, observed, decision } = prediction;
  const carried = {
    requests: plural('requests', page.requests),
    origins: plural('origins', page.origins),
  };
  return [
    el('p', { class: 'hw-muted' }, keepUnitsTogether(describeLoad(observed.pltMs, prediction.fit, carried))),
    ...renderFit(prediction.fit, describeShown(prediction, options).why, options),
    ...(decision.changed === null ||
    decideBeyondPins(decision, options.pinGain ?? null, options.promised) === null
      ? []
      : [el('p', { class: 'hw-note' }, decision.changed)]),
    ...prediction.notes.map((note) => el('p', { class: 'hw-note' }, note)),
    el(
      'ul',
      { class: 'hw-reasons' },
      ...decision.evidence.map(({ text }) => el('li', {}, keepUnitsTogether(text))),
      ...reasonsOf(prediction).map((reason) => el('li', {}, keepUnitsTogether(reason))),
    ),
  ];
}

/** What was loaded and how long that took, where the sentence on how well the load is explained does not say it. */
function describeLoad(
  pltMs: number | null,
  { summary }: Fit,
  carried: { requests: string; origins: string },
): string {
  if (pltMs === null) return t('summaryNeverLoaded', carried);
  return summary === ''
    ? t('summaryTook', { ...carried, time: formatDuration(pltMs) })
    : t('summaryCarried', carried);
}

/** What is left to do: nothing where the load's pins do it, or pins have been measured to help as much, or promise to. */
export function renderInstruction({ decision }: Prediction, options: SummaryOptions): HTMLElement[] {
  const { pinGain = null, pinned, promised = null } = options;
  const { action, kind } = decision;
  const isDone = action.origins.every((origin) => pinned?.[origin] === action.assignment[origin]);
  if (kind !== 'act' || isDone || decideBeyondPins(decision, pinGain, promised) === null) return [];
  // The headline has the action's figures, except where pins have their own.
  const text = pinGain || promised ? `${decision.verdict}.` : describeInstruction(decision);
  return [builder(options)('p', { class: 'hw-instruction' }, keepUnitsTogether(text))];
}

/** More origins are named by the first and their number. */
const NAMED_ORIGINS = 2;

/** What to do, in the imperative: `Keep cdn.example off HTTP/3.` */
function describeInstruction({ action, baseline }: Decision): string {
  const { kind, origins, protocol } = action;
  const names = origins.map(formatOrigin);
  const hosts =
    names.length > NAMED_ORIGINS
      ? t('serversMore', { names: names[0]!, count: names.length - 1 })
      : formatList(names);
  if (kind === 'avoid-h3') {
    const onH3 = Object.values(baseline.protocols).filter((each) => each === 'h3').length;
    const isWholePage = names.length === onH3 && onH3 > NAMED_ORIGINS;
    return isWholePage ? t('instructAvoidPage') : t('instructAvoid', { hosts });
  }
  return protocol === null
    ? t('instructMix', { hosts })
    : t('instructHold', { hosts, protocol: PROTOCOL_NAME[protocol] });
}

/** How well the recorded load is explained, and what is not understood of it. @param why of the headline, which may say that already */
function renderFit({ summary, notes, understood }: Fit, why: string, options: ViewOptions): HTMLElement[] {
  const isNew = (sentence: string) => sentence !== '' && !why.includes(sentence);
  const text = [summary, ...notes].filter(isNew).join(' ');
  if (text === '') return [];
  const el = builder(options);
  const name = understood ? 'hw-muted hw-fit' : 'hw-note hw-fit';
  return [el('p', { class: name, 'data-understood': String(understood) }, keepUnitsTogether(text))];
}

/** Why the best protocol wins; doubts are in the verdict. */
function reasonsOf({ decided, reasons }: Prediction): string[] {
  return decided ? reasons : [];
}
