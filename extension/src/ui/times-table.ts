import { plural, t } from '../language/translate.ts';
import {
  type ComparisonFigure,
  collectFigures,
  describeLimits,
  FIGURE_KINDS,
  findBestRow,
  listRows,
  nameKind,
  nameRow,
  type TimesComparison,
} from './comparison.ts';
import { builder, type ViewOptions } from './dom.ts';
import { createDurationFormat, keepUnitsTogether } from './format.ts';

interface TimesTableOptions extends ViewOptions {
  /** Draw the medians as bars below the figures. */
  bars?: boolean | undefined;
}

/** The figures of the protocol chart as a table: median and spread of each kind. */
export function renderTimesTable(comparison: TimesComparison, options: TimesTableOptions = {}): HTMLElement {
  const el = builder(options);
  const { figures, missingTimes } = collectFigures(comparison);
  const longestMs = Math.max(1, ...figures.map(({ medianMs }) => medianMs));
  const renderBar = ({ row, medianMs }: ComparisonFigure) =>
    el('span', {
      class: `hw-bar hw-bar-${row}`,
      style: `width: ${((100 * medianMs) / longestMs).toFixed(1)}%`,
    });
  const kinds = FIGURE_KINDS.filter((kind) => [...figures, ...missingTimes].some((one) => one.kind === kind));
  const write = createDurationFormat(longestMs);
  const best = findBestRow(comparison);
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
        el('th', { scope: 'col' }, t('columnProtocol')),
        ...kinds.map((kind) => el('th', { scope: 'col' }, capitalize(nameKind(kind)))),
      ),
    ),
    el(
      'tbody',
      {},
      ...listRows(comparison).map((row) =>
        el(
          'tr',
          row === best ? { class: 'hw-best' } : {},
          el(
            'th',
            { scope: 'row', ...(row === 'later' && { title: t('noteLater') }) },
            el('span', { class: `hw-badge hw-badge-${row}` }, nameRow(row, comparison)),
          ),
          ...kinds.map((kind) => {
            const figure = figures.find((one) => one.row === row && one.kind === kind);
            const gap = missingTimes.find((one) => one.row === row && one.kind === kind);
            if (!figure) {
              return el('td', { class: 'hw-muted', title: gap?.reason ?? '' }, gap ? t('notAvailable') : '–');
            }
            return el(
              'td',
              { class: 'hw-number' },
              el('strong', {}, keepUnitsTogether(write(figure.medianMs))),
              el('span', { class: 'hw-spread' }, describeSpread(figure, write)),
              options.bars ? renderBar(figure) : null,
            );
          }),
        ),
      ),
    ),
  );
}

/** The range, or the number of runs where their times are the same. */
export function describeSpread(
  { lowMs, highMs, runs }: ComparisonFigure,
  write: (ms: number) => string,
): string {
  const [low, high] = [write(lowMs), write(highMs)];
  if (low !== high) return keepUnitsTogether(`${low} – ${high}`);
  return runs === undefined ? '' : `(${plural('runs', runs)})`;
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
