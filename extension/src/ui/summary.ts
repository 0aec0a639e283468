import { PROTOCOL_NAME } from '@hopwise/contract';
import { type LoadTime, PROTOCOLS, type Prediction, type Protocol } from '@hopwise/pageload-emulator';
import { builder, type ViewOptions } from './dom.ts';
import { formatCount, formatMs, formatShare, keepUnitsTogether } from './format.ts';

/** Smaller gains of choosing per origin, as a fraction, are not mentioned. */
const MIN_SHOWN_GAIN = 0.01;

/** The result in one sentence. */
export function headline(prediction: Prediction): string {
  const times = listAvailableTimes(prediction);
  const [first, second] = times;
  if (!first) return 'No protocol can carry this page';
  const best = times.find(([protocol]) => protocol === prediction.best) ?? first;
  if (!second) return `Only ${PROTOCOL_NAME[best[0]]} can carry this page: ${formatMs(best[1].pltMs)}`;
  if (!prediction.decided) {
    return `No clear winner: ${times.map(([p, time]) => `${PROTOCOL_NAME[p]} ${formatMs(time.pltMs)}`).join(', ')}`;
  }
  const runnerUp = times.find(([protocol]) => protocol !== best[0])!;
  return (
    `${PROTOCOL_NAME[best[0]]} loads this page fastest: ${formatMs(best[1].pltMs)}, ` +
    `${formatShare(prediction.margin)} ahead of ${PROTOCOL_NAME[runnerUp[0]]} ` +
    `(${formatShare(prediction.confidence)} sure)`
  );
}

/** Headline, gain of choosing per origin, reasons, and limits of the prediction. */
export function renderSummary(prediction: Prediction, options: ViewOptions = {}): HTMLElement {
  const el = builder(options);
  const { page, observed } = prediction;
  const seen =
    observed.pltMs === null ? 'its load event never fired' : `this load took ${formatMs(observed.pltMs)}`;
  return el(
    'section',
    { class: 'hw-summary', 'data-best': prediction.decided ? prediction.best : 'none' },
    el('h2', { class: 'hw-headline' }, keepUnitsTogether(headline(prediction))),
    el(
      'p',
      { class: 'hw-muted' },
      keepUnitsTogether(
        `${formatCount(page.requests, 'request')} to ${formatCount(page.origins, 'origin')}; ${seen}.`,
      ),
    ),
    describeAssignmentGain(prediction) === ''
      ? null
      : el('p', {}, keepUnitsTogether(describeAssignmentGain(prediction))),
    prediction.reasons.length === 0
      ? null
      : el('ul', { class: 'hw-reasons' }, ...prediction.reasons.map((reason) => el('li', {}, reason))),
    ...listNotes(prediction).map((note) => el('p', { class: 'hw-note' }, note)),
  );
}

function describeAssignmentGain(prediction: Prediction): string {
  const best = prediction.protocols[prediction.best];
  if ('unavailable' in best) return '';
  const gain = 1 - prediction.assignedPltMs / best.pltMs;
  if (gain < MIN_SHOWN_GAIN) return '';
  const { assignedPltMs, assigned } = prediction;
  // Predictions that an earlier version stored have no `assigned`.
  const doubt =
    (assigned as typeof assigned | undefined)?.decided === false ? ', within the uncertainty' : '';
  return `With the best protocol for each origin: ${formatMs(assignedPltMs)}, ${formatShare(gain)} less${doubt}.`;
}

/** Predictions that an earlier version stored have no notes. */
function listNotes({ notes }: { notes?: string[] }): string[] {
  return notes ?? [];
}

/** Fastest first. */
function listAvailableTimes(prediction: Prediction): [Protocol, LoadTime][] {
  return PROTOCOLS.flatMap((protocol): [Protocol, LoadTime][] => {
    const time = prediction.protocols[protocol];
    return 'unavailable' in time ? [] : [[protocol, time]];
  }).sort((a, b) => a[1].pltMs - b[1].pltMs);
}
