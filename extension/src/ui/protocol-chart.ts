import * as Plot from '@observablehq/plot';
import { plural, t } from '../language/translate.ts';
import {
  type ComparisonFigure,
  collectFigures,
  FIGURE_KINDS,
  type FigureKind,
  listRows,
  type MissingTime,
  nameKind,
  nameRow,
  type TimesComparison,
} from './comparison.ts';
import { type Build, builder, type ViewOptions } from './dom.ts';
import { createDurationFormat, createTickFormat } from './format.ts';
import { renderMissingTimes } from './missing-times.ts';
import { ROW_COLOURS } from './palette.ts';
import { renderPlot } from './plot.ts';

const ROW_HEIGHT = 20;

/**
 * Load time of each protocol on one scale: the prediction as a range with its median, next to
 * the times of real transfers and of real page loads if there are any.
 */
export function renderProtocolChart(comparison: TimesComparison, options: ViewOptions = {}): HTMLElement {
  const el = builder(options);
  const rows = listRows(comparison);
  const all = collectFigures(comparison);
  const kinds = FIGURE_KINDS.filter((kind) =>
    [...all.figures, ...all.missingTimes].some((one) => one.kind === kind),
  );
  const { figures, missingTimes } = inLanes(all, kinds);
  const of = (kind: FigureKind) => figures.filter((figure) => figure.kind === kind);
  const write = createDurationFormat(Math.max(0, ...figures.map(({ medianMs }) => medianMs)));
  const describe = (figure: ComparisonFigure) => describeFigure(figure, write);
  const endMs = Math.max(1, ...figures.map((figure) => figure.highMs));
  const lane = { y: 'lane', fy: 'row' } as const;
  const range = { ...lane, x1: 'lowMs', x2: 'highMs' } as const;
  const whisker = { ...range, stroke: 'row', strokeWidth: 1.5 };
  const median = { ...lane, x: 'medianMs', fill: 'row', stroke: 'var(--hw-surface)' };

  const width = options.width ?? 640;
  const plot = renderPlot({
    ...(options.document ? { document: options.document } : {}),
    width,
    height: 34 + rows.length * (kinds.length * ROW_HEIGHT + 14),
    marginLeft: 84,
    marginRight: 64,
    marginTop: 6,
    marginBottom: 28,
    style: { fontFamily: 'inherit', fontSize: '12px', background: 'none', overflow: 'visible' },
    x: {
      domain: [0, endMs],
      grid: true,
      ticks: width < 480 ? 2 : 5,
      tickFormat: createTickFormat(endMs),
      label: null,
    },
    y: { domain: kinds, axis: null, padding: 0.15 },
    fy: { domain: rows, padding: 0.16, label: null, axis: null },
    color: ROW_COLOURS,
    ariaLabel: t('chartTitle'),
    ariaDescription: figures.map(describe).join('; '),
    marks: [
      // Names of two words break into lines, so that they fit narrow windows.
      Plot.axisFy({
        anchor: 'left',
        tickFormat: nameRow,
        tickSize: 0,
        lineWidth: 7,
        label: null,
      }),
      Plot.barX(of('predicted'), {
        ...range,
        fill: 'row',
        fillOpacity: 0.28,
        rx: 3,
        insetTop: 2,
        insetBottom: 2,
      }),
      Plot.tickX(of('predicted'), { ...lane, x: 'medianMs', stroke: 'row', strokeWidth: 3 }),
      Plot.ruleY(of('verified'), whisker),
      Plot.dot(of('verified'), { ...median, symbol: 'diamond', r: 6 }),
      Plot.ruleY(of('measured'), whisker),
      Plot.dot(of('measured'), { ...median, symbol: 'circle', r: 5 }),
      Plot.text(figures, {
        ...lane,
        x: 'highMs',
        text: (figure: ComparisonFigure) => write(figure.medianMs),
        textAnchor: 'start',
        dx: 9,
        fill: 'var(--hw-text)',
      }),
      Plot.text(missingTimes, {
        ...lane,
        x: 0,
        text: () => t('notAvailable'),
        textAnchor: 'start',
        dx: 4,
        fill: 'var(--hw-muted)',
        fontStyle: 'italic',
      }),
      Plot.tip(
        figures,
        Plot.pointer({
          ...lane,
          x: 'medianMs',
          title: describe,
          fill: 'var(--hw-surface)',
          stroke: 'var(--hw-line)',
        }),
      ),
    ],
  });

  return el(
    'figure',
    { class: 'hw-chart' },
    plot,
    el('ul', { class: 'hw-legend' }, ...kinds.map((kind) => legendItem(el, kind))),
    ...renderMissingTimes(comparison, options),
  );
}

/** Gives each time a lane of its row: one below the other in order of kind, in the middle where a row has fewer. */
function inLanes(
  { figures, missingTimes }: ReturnType<typeof collectFigures>,
  kinds: readonly FigureKind[],
): {
  figures: (ComparisonFigure & { lane: FigureKind })[];
  missingTimes: (MissingTime & { lane: FigureKind })[];
} {
  const all = [...figures, ...missingTimes];
  const inLane = <T extends ComparisonFigure | MissingTime>(time: T) => {
    const present = kinds.filter((kind) =>
      all.some((other) => other.row === time.row && other.kind === kind),
    );
    const first = Math.floor((kinds.length - present.length) / 2);
    return { ...time, lane: kinds[first + present.indexOf(time.kind)] as FigureKind };
  };
  return { figures: figures.map(inLane), missingTimes: missingTimes.map(inLane) };
}

function legendItem(el: Build, kind: FigureKind): HTMLElement {
  return el(
    'li',
    {},
    el('span', { class: `hw-mark hw-mark-${kind}`, 'aria-hidden': 'true' }),
    describeKind(kind),
  );
}

function describeKind(kind: FigureKind): string {
  return { predicted: t('chartPredicted'), verified: t('chartVerified'), measured: t('chartMeasured') }[kind];
}

function describeFigure(
  { row, kind, medianMs, lowMs, highMs, runs }: ComparisonFigure,
  write: (ms: number) => string,
): string {
  const [low, high] = [write(lowMs), write(highMs)];
  const spread = low === high ? '' : `, ${t('rangeTo', { low, high })}`;
  const counted = runs === undefined ? '' : ` (${plural('runs', runs)})`;
  return `${nameRow(row)} ${nameKind(kind)}: ${write(medianMs)}${spread}${counted}`;
}
