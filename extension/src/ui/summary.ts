import type { Assignment, Fit, Prediction } from '@hopwise/contract';
import type { PinGain } from '../evidence/pin-outcomes.ts';
import { plural, t } from '../language/translate.ts';
import { builder, type ViewOptions } from './dom.ts';
import { formatDuration, keepUnitsTogether } from './format.ts';
import { decideBeyondPins, describePinGain } from './pin-gain.ts';

/** What to do and what it gains, or what the load's pins have gained, in one sentence. */
export function headline({ decision }: Pick<Prediction, 'decision'>, pinGain: PinGain | null = null): string {
  return (pinGain && describePinGain(pinGain)) ?? `${decision.verdict}.`;
}

interface SummaryOptions extends ViewOptions {
  /** Controls below the verdict that carry it out. */
  controls?: readonly HTMLElement[] | undefined;
  /** What the load's pins gained: a measurement is stated before the prediction's verdict. */
  pinGain?: PinGain | null | undefined;
  /** Protocols that the load's pins held its origins to. */
  pinned?: Assignment | null | undefined;
}

/** The verdict, what it rests on, and limits of the prediction. */
export function renderSummary(prediction: Prediction, options: SummaryOptions = {}): HTMLElement {
  const el = builder(options);
  const { page, observed, decision } = prediction;
  const carried = {
    requests: plural('requests', page.requests),
    origins: plural('origins', page.origins),
  };
  const seen =
    observed.pltMs === null
      ? t('summaryNeverLoaded', carried)
      : t('summaryTook', { ...carried, time: formatDuration(observed.pltMs) });
  return el(
    'section',
    {
      class: 'hw-summary',
      'data-decision': decision.kind,
      'data-action': decision.action.kind,
      'data-pins': options.pinGain?.effect ?? 'none',
    },
    el('h2', { class: 'hw-headline' }, keepUnitsTogether(headline(prediction, options.pinGain))),
    ...renderFurtherVerdict(prediction, options),
    ...(options.controls ?? []),
    el('p', { class: 'hw-muted' }, keepUnitsTogether(seen)),
    ...(decision.changed === null || decideBeyondPins(decision, options.pinGain ?? null) === null
      ? []
      : [el('p', { class: 'hw-note' }, decision.changed)]),
    el(
      'ul',
      { class: 'hw-reasons' },
      ...decision.evidence.map(({ text }) => el('li', {}, keepUnitsTogether(text))),
      ...reasonsOf(prediction).map((reason) => el('li', {}, keepUnitsTogether(reason))),
    ),
    ...renderFit(prediction.fit, options),
    ...prediction.notes.map((note) => el('p', { class: 'hw-note' }, note)),
  );
}

/** The verdict below the measured gain of pins, where it is not what these pins do. */
function renderFurtherVerdict(prediction: Prediction, options: SummaryOptions): HTMLElement[] {
  const { pinGain = null, pinned } = options;
  const { action, kind } = prediction.decision;
  const isDone = action.origins.every((origin) => pinned?.[origin] === action.assignment[origin]);
  const isOffered = kind === 'act' && !isDone && decideBeyondPins(prediction.decision, pinGain) !== null;
  if (!isOffered || pinGain === null || describePinGain(pinGain) === null) return [];
  return [builder(options)('p', {}, keepUnitsTogether(headline(prediction)))];
}

/** How well the recorded load is explained, and what is not understood of it. */
function renderFit({ summary, notes, understood }: Fit, options: ViewOptions): HTMLElement[] {
  const text = [summary, ...notes].filter((sentence) => sentence !== '').join(' ');
  if (text === '') return [];
  const el = builder(options);
  const name = understood ? 'hw-muted hw-fit' : 'hw-note hw-fit';
  return [el('p', { class: name, 'data-understood': String(understood) }, keepUnitsTogether(text))];
}

/** Why the best protocol wins; doubts are in the verdict. */
function reasonsOf({ decided, reasons }: Prediction): string[] {
  return decided ? reasons : [];
}
