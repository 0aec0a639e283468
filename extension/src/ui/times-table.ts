import {
  type Comparison,
  collectFigures,
  FIGURE_KINDS,
  type Figure,
  listRows,
  ROW_NAME,
} from './comparison.ts';
import { builder, type ViewOptions } from './dom.ts';
import { formatMs, keepUnitsTogether } from './format.ts';

/** The figures of the protocol chart as a table: median and spread of each kind. */
export function renderTimesTable(comparison: Comparison, options: ViewOptions = {}): HTMLElement {
  const el = builder(options);
  const { figures, missingTimes } = collectFigures(comparison);
  const kinds = FIGURE_KINDS.filter((kind) => [...figures, ...missingTimes].some((one) => one.kind === kind));
  const { best, decided } = comparison.prediction;
  const caption = describeLimits(comparison);
  return el(
    'table',
    { class: 'hw-table hw-times' },
    caption ? el('caption', { class: 'hw-note' }, caption) : null,
    el(
      'thead',
      {},
      el(
        'tr',
        {},
        el('th', { scope: 'col' }, 'Protocol'),
        ...kinds.map((kind) => el('th', { scope: 'col' }, capitalize(kind))),
      ),
    ),
    el(
      'tbody',
      {},
      ...listRows(comparison).map((row) =>
        el(
          'tr',
          decided && row === best ? { class: 'hw-best' } : {},
          el('th', { scope: 'row' }, el('span', { class: `hw-badge hw-badge-${row}` }, ROW_NAME[row])),
          ...kinds.map((kind) => {
            const figure = figures.find((one) => one.row === row && one.kind === kind);
            const gap = missingTimes.find((one) => one.row === row && one.kind === kind);
            if (!figure) {
              return el('td', { class: 'hw-muted', title: gap?.reason ?? '' }, gap ? 'not available' : '–');
            }
            return el(
              'td',
              { class: 'hw-number' },
              el('strong', {}, formatMs(figure.medianMs)),
              el('span', { class: 'hw-spread' }, formatSpread(figure)),
            );
          }),
        ),
      ),
    ),
  );
}

function formatSpread({ lowMs, highMs }: Figure): string {
  return lowMs === highMs ? 'once' : keepUnitsTogether(`${formatMs(lowMs)} – ${formatMs(highMs)}`);
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** Explains why the verified times cover fewer rounds, or fewer resources, than planned. */
function describeLimits({ stopped, leftOut = 0 }: Comparison): string {
  const resources = leftOut === 1 ? '1 resource' : `${leftOut} resources`;
  return [
    stopped ? `The verification ended early: ${stopped}.` : '',
    leftOut > 0 ? `The verification left out ${resources} to stay within its byte budget.` : '',
  ]
    .filter(Boolean)
    .join(' ');
}
