import { PROTOCOL_NAME, PROTOCOLS } from '@hopwise/contract';
import type { Prediction, Protocol, RecordedRequest, Recording } from '@hopwise/pageload-emulator';
import * as Plot from '@observablehq/plot';
import { type PlainKey, plural, t } from '../language/translate.ts';
import { type Build, builder, type ViewOptions, visible } from './dom.ts';
import { createTickFormat, formatDuration, formatMs, formatUrl } from './format.ts';
import { PROTOCOL_COLOURS } from './palette.ts';
import { renderPlot } from './plot.ts';

/** Phase of a request. `whole`: the browser reports only its start and end. */
type WaterfallPhase = 'queued' | 'connecting' | 'waiting' | 'receiving' | 'whole';

export interface WaterfallBar {
  phase: WaterfallPhase;
  startMs: number;
  endMs: number;
}

export interface WaterfallRow {
  requestId: number;
  url: string;
  protocol: Protocol | null;
  startMs: number;
  endMs: number;
  bars: WaterfallBar[];
}

export interface Waterfall {
  pageUrl: string;
  rows: WaterfallRow[];
  /** Load event, null if it never fired. */
  pltMs: number | null;
}

const ROW_HEIGHT = 17;
/** A chart of more requests is neither readable nor fast. */
const MAX_ROWS = 400;
const LABEL_WIDTH = 236;
/** Narrow charts have shorter names, so that bars are in sight. */
const NARROW_WIDTH = 700;
const NARROW_LABEL_WIDTH = 150;
const NARROW_LABEL_LENGTH = 21;
const AXIS_HEIGHT = 28;
/** Width of the vertical scrollbar beside the rows. */
const SCROLLBAR_WIDTH = 16;

const PHASE_NAME = {
  queued: 'phaseQueued',
  connecting: 'phaseConnecting',
  waiting: 'phaseWaiting',
  receiving: 'phaseReceiving',
  whole: 'phaseWhole',
} as const satisfies Record<WaterfallPhase, PlainKey>;
const PHASES = Object.keys(PHASE_NAME) as WaterfallPhase[];
/** Phases that are drawn in the protocol's colour. */
const IN_COLOUR: ReadonlySet<WaterfallPhase> = new Set(['waiting', 'receiving', 'whole']);

export const namePhase = (phase: WaterfallPhase): string => t(PHASE_NAME[phase]);

/** Waterfall of the load as recorded. */
export function recordedWaterfall(recording: Recording): Waterfall {
  return {
    pageUrl: recording.url,
    pltMs: recording.pltMs,
    rows: recording.requests.map((request) => ({
      requestId: request.id,
      url: request.url,
      protocol: request.protocol,
      startMs: request.startMs,
      endMs: request.endMs,
      bars: toBars(request),
    })),
  };
}

/** Waterfall of the median load emulated under one protocol; null if the protocol cannot carry the page. */
export function predictedWaterfall(
  recording: Recording,
  prediction: Prediction,
  protocol: Protocol,
): Waterfall | null {
  const entries = prediction.waterfall[protocol];
  const time = prediction.emulated.protocols[protocol];
  if (!entries || 'unavailable' in time) return null;
  return {
    pageUrl: recording.url,
    pltMs: time.pltMs,
    rows: entries
      .toSorted((a, b) => a.startMs - b.startMs)
      .map(({ requestId, startMs, sentMs, firstByteMs, endMs }) => ({
        requestId,
        url: recording.requests[requestId]?.url ?? '',
        protocol,
        startMs,
        endMs,
        bars: withoutEmpty([
          { phase: 'queued', startMs, endMs: sentMs },
          { phase: 'waiting', startMs: sentMs, endMs: firstByteMs },
          { phase: 'receiving', startMs: firstByteMs, endMs },
        ]),
      })),
  };
}

/** Requests by time, coloured by protocol and shaded by phase. */
export function renderWaterfall(waterfall: Waterfall, options: ViewOptions = {}): HTMLElement {
  const el = builder(options);
  const rows = waterfall.rows.slice(0, MAX_ROWS);
  const bars = rows.flatMap((row, index) =>
    row.bars.map((bar) => ({ ...bar, index, protocol: row.protocol ?? 'unknown', title: describeRow(row) })),
  );
  const endMs = Math.max(1, waterfall.pltMs ?? 0, ...rows.map((row) => row.endMs));
  const of = (...phases: WaterfallPhase[]) => bars.filter((bar) => phases.includes(bar.phase));
  const place = { x1: 'startMs', x2: 'endMs', y: 'index', title: 'title' } as const;
  const full = { ...place, insetTop: 2, insetBottom: 2, rx: 1.5 };

  const width = options.width ?? 860;
  const isNarrow = width < NARROW_WIDTH;
  const frame = {
    ...(options.document ? { document: options.document } : {}),
    width: width - SCROLLBAR_WIDTH,
    marginLeft: isNarrow ? NARROW_LABEL_WIDTH : LABEL_WIDTH,
    marginRight: 20,
    style: { fontFamily: 'inherit', fontSize: '11px', background: 'var(--hw-surface)' },
  };
  const time = { domain: [0, endMs], ticks: 6, tickFormat: createTickFormat(endMs), label: null };
  // A separate chart, so that the axis stays visible while the rows scroll.
  const axis = renderPlot({
    ...frame,
    height: AXIS_HEIGHT,
    marginTop: AXIS_HEIGHT,
    marginBottom: 0,
    x: { ...time, axis: 'top' },
    marks: [],
  });
  axis.classList.add('hw-axis');
  axis.setAttribute('aria-hidden', 'true');
  const label = plural('waterfallLabel', rows.length);
  const plot = renderPlot({
    ...frame,
    height: 12 + rows.length * ROW_HEIGHT,
    marginTop: 0,
    marginBottom: 12,
    x: { ...time, axis: null, grid: true },
    y: { type: 'band', domain: rows.map((_, index) => index), axis: null, padding: 0 },
    color: PROTOCOL_COLOURS,
    ariaLabel: label,
    marks: [
      Plot.axisY({
        tickFormat: (index: number) =>
          formatUrl(rows[index]!.url, waterfall.pageUrl, isNarrow ? NARROW_LABEL_LENGTH : undefined),
        tickSize: 0,
        label: null,
        fill: 'var(--hw-text)',
      }),
      Plot.barX(of('queued'), {
        ...place,
        fill: 'var(--hw-unknown)',
        fillOpacity: 0.3,
        insetTop: 6,
        insetBottom: 6,
      }),
      Plot.barX(of('connecting'), { ...place, fill: 'var(--hw-unknown)', insetTop: 4, insetBottom: 4 }),
      Plot.barX(of('waiting'), { ...full, fill: 'protocol', fillOpacity: 0.35 }),
      Plot.barX(of('whole'), { ...full, fill: 'protocol', fillOpacity: 0.6 }),
      Plot.barX(of('receiving'), { ...full, fill: 'protocol' }),
      waterfall.pltMs === null
        ? null
        : Plot.ruleX([waterfall.pltMs], { stroke: 'var(--hw-load)', strokeWidth: 1.5 }),
    ],
  });

  const usesOf = (name: string) => rows.filter((row) => (row.protocol ?? 'unknown') === name).length;
  const protocols = new Set(rows.map((row) => row.protocol ?? 'unknown'));
  const usual = [...protocols].toSorted((a, b) => usesOf(b) - usesOf(a))[0] ?? 'unknown';
  const phases = new Set(bars.map((bar) => bar.phase));
  const hidden = waterfall.rows.length - rows.length;
  return el(
    'figure',
    { class: 'hw-chart hw-waterfall' },
    renderLegend(
      [
        ...PROTOCOLS.filter((protocol) => protocols.has(protocol)).map((each) => [each, PROTOCOL_NAME[each]]),
        ...(protocols.has('unknown') ? [['unknown', t('protocolWithheld')]] : []),
        ...PHASES.filter((phase) => phases.has(phase)).map((phase) => [
          IN_COLOUR.has(phase) ? `${usual} ${phase}` : phase,
          namePhase(phase),
        ]),
        ...(waterfall.pltMs === null
          ? []
          : [['load', t('waterfallLoadEvent', { time: formatDuration(waterfall.pltMs) })]]),
      ] as [string, string][],
      el,
    ),
    el('div', { class: 'hw-scroll', role: 'group', 'aria-label': label }, axis, plot),
    hidden > 0 ? el('p', { class: 'hw-note' }, t('waterfallHidden', { count: hidden })) : null,
  );
}

/** @param items names of the swatches, such as `queued` or `h2 waiting`, with what they mean */
export function renderLegend(
  items: readonly [swatch: string, label: string][],
  el: Build = builder(),
): HTMLElement {
  const swatch = (names: string) => {
    const classes = names.split(' ').map((name) => `hw-swatch-${name}`);
    return el('span', { class: `hw-swatch ${classes.join(' ')}`, 'aria-hidden': 'true' });
  };
  return el('ul', { class: 'hw-legend' }, ...items.map(([name, label]) => el('li', {}, swatch(name), label)));
}

function toBars({ startMs, endMs, phases }: RecordedRequest): WaterfallBar[] {
  const { dnsStartMs, connectStartMs, connectEndMs, requestStartMs, responseStartMs } = phases;
  if (responseStartMs === null) return withoutEmpty([{ phase: 'whole', startMs, endMs }]);
  const sentMs = requestStartMs ?? startMs;
  const setUpMs = dnsStartMs ?? connectStartMs ?? sentMs;
  return withoutEmpty([
    { phase: 'queued', startMs, endMs: setUpMs },
    { phase: 'connecting', startMs: setUpMs, endMs: connectEndMs ?? setUpMs },
    { phase: 'queued', startMs: connectEndMs ?? setUpMs, endMs: sentMs },
    { phase: 'waiting', startMs: sentMs, endMs: responseStartMs },
    { phase: 'receiving', startMs: responseStartMs, endMs },
  ]);
}

function withoutEmpty(bars: WaterfallBar[]): WaterfallBar[] {
  return bars.filter((bar) => bar.endMs > bar.startMs);
}

export function describeRow(row: WaterfallRow): string {
  const times = row.bars.map((bar) => `${namePhase(bar.phase)} ${formatMs(bar.endMs - bar.startMs)}`);
  const protocol = row.protocol ? PROTOCOL_NAME[row.protocol] : t('protocolWithheld');
  return [
    visible(row.url),
    t('waterfallRow', { protocol, start: formatMs(row.startMs), end: formatMs(row.endMs) }),
    ...times,
  ].join('\n');
}
