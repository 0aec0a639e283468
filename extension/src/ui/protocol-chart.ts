import { PROTOCOLS, type Protocol } from '@hopwise/contract';
import * as Plot from '@observablehq/plot';
import { plural, t } from '../language/translate.ts';
import {
  type ComparisonFigure,
  type ComparisonRow,
  collectFigures,
  FIGURE_KINDS,
  type FigureKind,
  findBestRow,
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

const LANE_HEIGHT = 18;
/** From this width on each row has its name and its figures in one line, pixels. */
const WIDE_PX = 480;
/** Width of a character of a row's name and of a column of figures, height of a line, pixels. */
const CHARACTER_PX = 7.8;
const COLUMN_PX = 66;
/** Room for a label of the axis. The axis may have twice as many as are asked for. */
const TICK_PX = 70;
const LINE_PX = 14;
/** Most characters in a line of a row's name in narrow charts. */
const NARROW_NAME_CHARACTERS = 11;

/** A kind of load time, and the paints, which narrow charts have below them. */
type Lane = FigureKind | 'paints';

/** When a protocol's emulated load paints, milliseconds. */
interface Paints {
  row: Protocol;
  lane: Lane;
  firstMs: number | null;
  largestMs: number | null;
}

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
  const width = options.width ?? 640;
  const isWide = width >= WIDE_PX;
  const paints = collectPaints(comparison, isWide ? 'predicted' : 'paints');
  const lanes: Lane[] = paints.length > 0 && !isWide ? [...kinds, 'paints'] : kinds;
  const columns = isWide ? listColumns(paints) : [];
  const names = rows.map((row) => nameRow(row, comparison));
  const best = findBestRow(comparison);
  const of = (kind: FigureKind) => figures.filter((figure) => figure.kind === kind);
  const write = createDurationFormat(Math.max(0, ...figures.map(({ medianMs }) => medianMs)));
  const describe = (figure: ComparisonFigure) => describeFigure(figure, write, comparison);
  const describePaints = ({ row, firstMs, largestMs }: Paints) =>
    t('chartPaints', {
      row: nameRow(row, comparison),
      first: firstMs === null ? '–' : write(firstMs),
      largest: largestMs === null ? '–' : write(largestMs),
    });
  const endMs = Math.max(
    1,
    ...figures.map((figure) => figure.highMs),
    ...paints.flatMap(({ firstMs, largestMs }) => [firstMs ?? 0, largestMs ?? 0]),
  );
  const lane = { y: 'lane', fy: 'row' } as const;
  const range = { ...lane, x1: 'lowMs', x2: 'highMs' } as const;
  const whisker = { ...range, stroke: 'row', strokeWidth: 1.5 };
  const median = { ...lane, x: 'medianMs', fill: 'row', stroke: 'var(--hw-surface)' };

  const column = (index: number) =>
    ({ frameAnchor: 'right', textAnchor: 'end', dx: (index + 1) * COLUMN_PX }) as const;
  const linesOfNames = isWide ? 1 : Math.max(...names.map(countLines));
  const rowHeight = Math.max(lanes.length * LANE_HEIGHT + 4, linesOfNames * LINE_PX + 4);
  // Bars stay as low where a name takes more lines.
  const barInset = 2 + (rowHeight - 4 - lanes.length * LANE_HEIGHT) / (2 * lanes.length);
  const marginTop = columns.length > 0 ? 8 + 2 * LINE_PX : 6;
  const marginLeft = isWide ? 10 + CHARACTER_PX * Math.max(...names.map(({ length }) => length)) : 92;
  const marginRight = 10 + COLUMN_PX * (1 + columns.length);
  const plot = renderPlot({
    ...(options.document ? { document: options.document } : {}),
    width,
    height: marginTop + 28 + rows.length * rowHeight,
    marginLeft,
    marginRight,
    marginTop,
    marginBottom: 28,
    style: { fontFamily: 'inherit', fontSize: '12px', background: 'none', overflow: 'visible' },
    x: {
      domain: [0, endMs],
      grid: true,
      ticks: Math.max(2, Math.min(5, Math.floor((width - marginLeft - marginRight) / TICK_PX))),
      tickFormat: createTickFormat(endMs),
      label: null,
    },
    y: { domain: lanes, axis: null, padding: 0.1 },
    fy: { domain: rows, padding: 0.1, label: null, axis: null },
    color: ROW_COLOURS,
    ariaLabel: t('chartTitle'),
    ariaDescription: [...figures.map(describe), ...paints.map(describePaints)].join('; '),
    marks: [
      Plot.axisFy({
        anchor: 'left',
        tickFormat: (row: ComparisonRow) => nameRow(row, comparison),
        tickSize: 0,
        lineWidth: isWide ? 40 : 7,
        label: null,
      }),
      Plot.rect(best === null ? [] : [best], {
        fy: (row: Protocol) => row,
        x1: 0,
        x2: endMs,
        stroke: (row: Protocol) => row,
        strokeWidth: 1.5,
        fill: 'none',
        rx: 3,
        insetLeft: -4,
        insetRight: -6 - COLUMN_PX * (1 + columns.length),
      }),
      Plot.barX(of('predicted'), {
        ...range,
        fill: 'row',
        fillOpacity: 0.28,
        rx: 3,
        insetTop: barInset,
        insetBottom: barInset,
      }),
      Plot.tickX(of('predicted'), { ...lane, x: 'medianMs', stroke: 'row', strokeWidth: 3 }),
      Plot.ruleY(of('verified'), whisker),
      Plot.dot(of('verified'), { ...median, symbol: 'diamond', r: 6 }),
      Plot.ruleY(of('measured'), whisker),
      Plot.dot(of('measured'), { ...median, symbol: 'circle', r: 5 }),
      Plot.text(figures, {
        ...lane,
        ...(isWide ? column(0) : { x: 'highMs', textAnchor: 'start', dx: 9 }),
        text: (figure: ComparisonFigure) => write(figure.medianMs),
        fill: 'var(--hw-text)',
      }),
      ...columns.map(({ title }, index) =>
        Plot.text([title], {
          ...column(index + 1),
          fy: () => rows[0]!,
          frameAnchor: 'top-right',
          lineAnchor: 'bottom',
          dy: -4,
          fill: 'var(--hw-muted)',
        }),
      ),
      ...columns.map(({ msOf }, index) =>
        Plot.text(paints, {
          ...lane,
          ...column(index + 1),
          text: (each: Paints) => (msOf(each) === null ? '–' : write(msOf(each)!)),
          fill: 'var(--hw-muted)',
        }),
      ),
      Plot.dot(paints, { ...lane, ...PAINT_MARK, x: 'firstMs', symbol: 'triangle' }),
      Plot.dot(paints, { ...lane, ...PAINT_MARK, x: 'largestMs', symbol: 'square' }),
      Plot.text(isWide ? [] : paints, {
        ...lane,
        x: ({ firstMs, largestMs }: Paints) => Math.max(firstMs ?? 0, largestMs ?? 0),
        text: ({ firstMs, largestMs }: Paints) =>
          [firstMs, largestMs].flatMap((ms) => (ms === null ? [] : write(ms))).join(', '),
        textAnchor: 'start',
        dx: 9,
        fill: 'var(--hw-muted)',
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
    el(
      'ul',
      { class: 'hw-legend' },
      ...kinds.map((kind) => legendItem(el, `hw-mark hw-mark-${kind}`, describeKind(kind))),
      // Wide charts have them in the columns' headings.
      !isWide && paints.some(({ firstMs }) => firstMs !== null)
        ? legendItem(el, 'hw-mark-paint', t('chartFirstPaint'), FIRST_PAINT)
        : null,
      !isWide && paints.some(({ largestMs }) => largestMs !== null)
        ? legendItem(el, 'hw-mark-paint', t('chartLargestPaint'), LARGEST_PAINT)
        : null,
      best === null ? null : legendItem(el, 'hw-mark-best', t('chartBest')),
    ),
    ...(rows.includes('later') ? [el('p', { class: 'hw-note' }, t('noteLater'))] : []),
    ...(comparison.isH3Hypothetical ? [el('p', { class: 'hw-note' }, t('noteHypothetical'))] : []),
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

const PAINT_MARK = { stroke: 'row', r: 3.5, strokeWidth: 1.5, fill: 'var(--hw-surface)' } as const;

const FIRST_PAINT = '△';
const LARGEST_PAINT = '□';

/** A column of figures beside the load times. */
interface Column {
  /** In two lines: a figure is narrower than its name. */
  title: string;
  msOf: (paints: Paints) => number | null;
}

/** A column for each paint that is known of some row. */
function listColumns(paints: readonly Paints[]): Column[] {
  const all: Column[] = [
    { title: nameColumn(FIRST_PAINT, t('chartFirstPaint')), msOf: ({ firstMs }) => firstMs },
    { title: nameColumn(LARGEST_PAINT, t('chartLargestPaint')), msOf: ({ largestMs }) => largestMs },
  ];
  return all.filter(({ msOf }) => paints.some((each) => msOf(each) !== null));
}

/** `△ first`, below it `paint`. */
const nameColumn = (sign: string, name: string): string => `${sign} ${name.replace(' ', '\n')}`;

/** Lines that a row's name takes in a narrow chart. */
function countLines(name: string): number {
  let lines = 1;
  let taken = 0;
  for (const { length } of name.split(' ')) {
    const isFirst = taken === 0;
    taken += length + (isFirst ? 0 : 1);
    if (isFirst || taken <= NARROW_NAME_CHARACTERS) continue;
    lines++;
    taken = length;
  }
  return lines;
}

/** Paints by protocol, where the emulation knows them. */
function collectPaints({ prediction }: TimesComparison, lane: Lane): Paints[] {
  return PROTOCOLS.flatMap((row) => {
    const time = prediction.protocols[row];
    if ('unavailable' in time) return [];
    const { firstContentfulPaintMs: firstMs, largestContentfulPaintMs: largestMs } = time;
    return firstMs === null && largestMs === null ? [] : { row, lane, firstMs, largestMs };
  });
}

function legendItem(el: Build, mark: string, text: string, sign = ''): HTMLElement {
  return el('li', {}, el('span', { class: mark, 'aria-hidden': 'true' }, sign), text);
}

function describeKind(kind: FigureKind): string {
  return { predicted: t('chartPredicted'), verified: t('chartVerified'), measured: t('chartMeasured') }[kind];
}

function describeFigure(
  { row, kind, medianMs, lowMs, highMs, runs }: ComparisonFigure,
  write: (ms: number) => string,
  comparison: TimesComparison,
): string {
  const [low, high] = [write(lowMs), write(highMs)];
  const spread = low === high ? '' : `, ${t('rangeTo', { low, high })}`;
  const counted = runs === undefined ? '' : ` (${plural('runs', runs)})`;
  return `${nameRow(row, comparison)} ${nameKind(kind)}: ${write(medianMs)}${spread}${counted}`;
}
