import * as Plot from '@observablehq/plot';
import { currentLocale, t } from '../../language/translate.ts';
import { builder } from '../../ui/dom.ts';
import { createTickFormat, formatDuration } from '../../ui/format.ts';
import { renderPlot } from '../../ui/plot.ts';
import { formatTime } from './loads-table.ts';
import { describePins, timeMsOf } from './page-history.ts';
import type { TrendPoint } from './trend.ts';

const el = builder();

/** A time below the axis takes about so many pixels. */
const TICK_WIDTH = 110;
/** From the edge to the first and from the last load, in loads: half a label fits. */
const PADDING = 0.6;

/**
 * The load times of a page's loads in order of time, with pins and changes of the network marked.
 *
 * @param width CSS pixels
 * @param figures of the networks, by their names, as far as they are known
 */
export function renderTrend(
  points: readonly TrendPoint[],
  width: number,
  figures: ReadonlyMap<string, string> = new Map(),
): HTMLElement {
  const marginLeft = 52;
  const changes = points.filter(
    ({ network }, index) => index === 0 || network !== points[index - 1]!.network,
  );
  const isChanged = changes.length > 1;
  const highestMs = Math.max(1, ...points.map(({ pltMs }) => pltMs));
  const writeTime = new Intl.DateTimeFormat(currentLocale(), {
    day: 'numeric',
    month: 'short',
    hour: 'numeric',
    minute: 'numeric',
  });
  const step = Math.ceil(points.length / Math.max(1, Math.floor((width - marginLeft) / TICK_WIDTH)));
  const kinds = [
    { isPinned: false, isFull: true, mark: '●', label: t('trendFree') },
    { isPinned: true, isFull: true, mark: '◆', label: t('trendPinned') },
  ];
  const describe = ({ load, pltMs, network }: TrendPoint) =>
    t('trendPoint', {
      time: formatTime(load),
      pltMs: formatDuration(pltMs),
      pins: describePins(load.pinned),
      name: network,
    });
  const plot = renderPlot({
    width,
    height: 150,
    marginLeft,
    marginRight: 12,
    marginTop: 20,
    marginBottom: 24,
    style: { fontFamily: 'inherit', fontSize: '11px', background: 'none' },
    x: {
      type: 'linear',
      domain: [-PADDING, points.length - 1 + PADDING],
      ticks: points.filter(({ index }) => index % step === 0).map(({ index }) => index),
      tickFormat: (index: number) => writeTime.format(timeMsOf(points[index]!.load)),
      tickSize: 3,
      label: null,
    },
    y: {
      domain: [0, 1.1 * highestMs],
      grid: true,
      ticks: 4,
      tickFormat: createTickFormat(highestMs),
      label: null,
    },
    ariaLabel: t('trendTitle'),
    ariaDescription: points.map(describe).join('; '),
    marks: [
      Plot.ruleX(isChanged ? changes : [], {
        x: ({ index }: TrendPoint) => index - 0.5,
        stroke: 'var(--hw-unknown)',
        strokeDasharray: '3 3',
      }),
      Plot.text(isChanged ? changes : [], {
        x: ({ index }: TrendPoint) => index - 0.5,
        text: 'network',
        frameAnchor: 'top',
        textAnchor: 'start',
        dx: 3,
        dy: -14,
        fill: 'var(--hw-muted)',
      }),
      Plot.line(points, { x: 'index', y: 'pltMs', stroke: 'var(--hw-line)', strokeWidth: 1.5 }),
      Plot.dot(points, {
        x: 'index',
        y: 'pltMs',
        r: 4.5,
        symbol: ({ isPinned }: TrendPoint) => (isPinned ? 'diamond' : 'circle'),
        fill: ({ isFull, isPinned }: TrendPoint) => (isFull ? colourOf(isPinned) : 'var(--hw-surface)'),
        stroke: ({ isPinned }: TrendPoint) => colourOf(isPinned),
        title: describe,
      }),
    ],
    symbol: { type: 'identity' },
    color: { type: 'identity' },
  });
  const legend = kinds.map(({ isPinned, mark, label }) => {
    const sign = el('span', { 'aria-hidden': 'true' }, mark);
    sign.style.color = colourOf(isPinned);
    return el('li', {}, sign, label);
  });
  return el(
    'figure',
    { class: 'hw-chart' },
    plot,
    el(
      'ul',
      { class: 'hw-legend' },
      ...legend,
      points.some(({ isFull }) => !isFull)
        ? el('li', {}, el('span', { 'aria-hidden': 'true' }, '○'), t('trendOther'))
        : null,
      ...(isChanged ? [...new Set(changes.map(({ network }) => network))] : []).map((name) =>
        el('li', {}, t('trendNetwork', { name, figures: figures.get(name) ?? t('unknown') })),
      ),
    ),
  );
}

const colourOf = (isPinned: boolean) => (isPinned ? 'var(--hw-h3)' : 'var(--hw-muted)');
