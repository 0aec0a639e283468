import type { Prediction } from '@hopwise/contract';
import { duration } from '@hopwise/pageload-emulator';
import { builder, type ViewOptions } from './dom.ts';
import { formatCount, keepUnitsTogether } from './format.ts';

/** What to do and what it gains, in one sentence. */
export function headline({ decision }: Pick<Prediction, 'decision'>): string {
  return `${decision.verdict}.`;
}

export interface SummaryOptions extends ViewOptions {
  /** Control below the verdict that carries it out. */
  action?: HTMLElement | undefined;
}

/** The verdict, what it rests on, and limits of the prediction. */
export function renderSummary(prediction: Prediction, options: SummaryOptions = {}): HTMLElement {
  const el = builder(options);
  const { page, observed, decision } = prediction;
  const seen =
    observed.pltMs === null ? 'its load event never fired' : `this load took ${duration(observed.pltMs)}`;
  return el(
    'section',
    { class: 'hw-summary', 'data-decision': decision.kind, 'data-action': decision.action.kind },
    el('h2', { class: 'hw-headline' }, keepUnitsTogether(headline(prediction))),
    options.action,
    el(
      'p',
      { class: 'hw-muted' },
      keepUnitsTogether(
        `${formatCount(page.requests, 'request')} to ${formatCount(page.origins, 'origin')}; ${seen}.`,
      ),
    ),
    ...(decision.changed === null ? [] : [el('p', { class: 'hw-note' }, decision.changed)]),
    el(
      'ul',
      { class: 'hw-reasons' },
      ...decision.evidence.map(({ text }) => el('li', {}, keepUnitsTogether(text))),
      ...reasonsOf(prediction).map((reason) => el('li', {}, keepUnitsTogether(reason))),
    ),
    ...prediction.notes.map((note) => el('p', { class: 'hw-note' }, note)),
  );
}

/** The emulation's reasons, where all evidence leads to the same protocol: otherwise they argue for another one. */
function reasonsOf({ decided, best, decision, reasons }: Prediction): string[] {
  return decided && best === decision.best ? reasons : [];
}
