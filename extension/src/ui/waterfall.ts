import { PROTOCOL_NAME, PROTOCOLS } from '@hopwise/contract';
import {
  loadEndMs,
  type Prediction,
  type Protocol,
  type RecordedRequest,
  type Recording,
} from '@hopwise/pageload-emulator';
import * as Plot from '@observablehq/plot';
import { type PlainKey, plural, t } from '../language/translate.ts';
import { type Build, builder, type ViewOptions, visible } from './dom.ts';
import { createTickFormat, formatDuration, formatMs, formatUrl } from './format.ts';
import { describeMilestone, listMilestones, type Milestone, type MilestoneKind } from './milestones.ts';
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
  /** The load event, or when the last response that could hold it up ended; 0 where nothing could. */
  loadEndMs: number;
  /** Those that are known, the load event included. */
  milestones: Milestone[];
}

/** End of what is shown, as a multiple of the load time. */
const AFTER_LOAD = 1.15;
const ROW_HEIGHT = 17;
/** A chart of more requests is neither readable nor fast. */
const MAX_ROWS = 400;
const LABEL_WIDTH = 236;
/** Narrow charts have each name above its bar, so that both have the whole width. */
const NARROW_WIDTH = 700;
const NARROW_ROW_HEIGHT = 32;
/** Height of the name in a row of a narrow chart. */
const NAME_HEIGHT = 15;
/** Approximate width of a character of a name. */
const CHARACTER_WIDTH = 6.8;
/** Space for the end of a bar that goes on. */
const LATER_WIDTH = 58;
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

/** Milestones other than the load event, whose line may also be a guess. */
const DASHES: Record<Exclude<MilestoneKind, 'load'>, { stroke: string; strokeDasharray: string }> = {
  dcl: { stroke: 'var(--hw-dcl)', strokeDasharray: '4 3' },
  fcp: { stroke: 'var(--hw-paint)', strokeDasharray: '2 2' },
  lcp: { stroke: 'var(--hw-paint)', strokeDasharray: '6 2 2 2' },
};

export const namePhase = (phase: WaterfallPhase): string => t(PHASE_NAME[phase]);

/** Waterfall of the load as recorded. */
export function recordedWaterfall(recording: Recording): Waterfall {
  return {
    pageUrl: recording.url,
    pltMs: recording.pltMs,
    loadEndMs: loadEndMs(recording),
    milestones: listMilestones(recording),
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
    loadEndMs: time.pltMs,
    milestones: listMilestones(time),
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

/** When rows and their load end, milliseconds. */
interface ShownLoad {
  rows: readonly { endMs: number }[];
  /** As in `Waterfall`. */
  loadEndMs: number;
}

/**
 * End of the time that is shown at first: a little after the load, milliseconds. A response may go on for as long as the page is open, and
 * would leave the load no room.
 */
export function shownEndMs({ rows, loadEndMs }: ShownLoad): number {
  const lastMs = Math.max(1, loadEndMs, ...rows.map(({ endMs }) => endMs));
  return loadEndMs > 0 ? Math.min(lastMs, AFTER_LOAD * loadEndMs) : lastMs;
}

/** Requests by time, coloured by protocol and shaded by phase. */
export function renderWaterfall(waterfall: Waterfall, options: ViewOptions = {}): HTMLElement {
  const el = builder(options);
  const rows = waterfall.rows.slice(0, MAX_ROWS);
  const endMs = shownEndMs({ ...waterfall, rows });
  const bars = rows.flatMap((row, index) =>
    row.bars
      .filter((bar) => bar.startMs < endMs)
      .map((bar) => ({
        ...bar,
        endMs: Math.min(bar.endMs, endMs),
        index,
        protocol: row.protocol ?? 'unknown',
        title: describeRow(row),
      })),
  );
  const before = waterfall.milestones.flatMap(({ kind, ms }) => (kind === 'load' ? [] : { kind, ms }));
  const later = rows.flatMap((row, index) =>
    row.endMs > endMs ? { index, endMs: row.endMs, title: describeRow(row) } : [],
  );
  const of = (...phases: WaterfallPhase[]) => bars.filter((bar) => phases.includes(bar.phase));
  const place = { x1: 'startMs', x2: 'endMs', y: 'index', title: 'title' } as const;
  const width = options.width ?? 860;
  const isNarrow = width < NARROW_WIDTH;
  const rowHeight = isNarrow ? NARROW_ROW_HEIGHT : ROW_HEIGHT;
  const inset = (px: number) => ({ insetTop: isNarrow ? NAME_HEIGHT + px : px, insetBottom: px });
  const full = { ...place, ...inset(2), rx: 1.5 };
  const frame = {
    ...(options.document ? { document: options.document } : {}),
    width: width - SCROLLBAR_WIDTH,
    marginLeft: isNarrow ? 4 : LABEL_WIDTH,
    marginRight: later.length > 0 ? LATER_WIDTH : 20,
    style: { fontFamily: 'inherit', fontSize: '11px', background: 'var(--hw-surface)' },
  };
  const time = {
    domain: [0, endMs],
    ticks: isNarrow ? 3 : 6,
    tickFormat: createTickFormat(endMs),
    label: null,
  };
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
    height: 12 + rows.length * rowHeight,
    marginTop: 0,
    marginBottom: 12,
    x: { ...time, axis: null, grid: true },
    y: { type: 'band', domain: rows.map((_, index) => index), axis: null, padding: 0 },
    color: PROTOCOL_COLOURS,
    ariaLabel: label,
    marks: [
      isNarrow ? nameAbove(rows, waterfall.pageUrl, width) : nameBeside(rows, waterfall.pageUrl),
      Plot.barX(of('queued'), {
        ...place,
        fill: 'var(--hw-unknown)',
        fillOpacity: 0.3,
        ...inset(6),
      }),
      Plot.barX(of('connecting'), { ...place, fill: 'var(--hw-unknown)', ...inset(4) }),
      Plot.barX(of('waiting'), { ...full, fill: 'protocol', fillOpacity: 0.35 }),
      Plot.barX(of('whole'), { ...full, fill: 'protocol', fillOpacity: 0.6 }),
      Plot.barX(of('receiving'), { ...full, fill: 'protocol' }),
      ...before.flatMap(({ kind, ms }) =>
        ms > endMs ? [] : Plot.ruleX([ms], { ...DASHES[kind], strokeWidth: 1.5 }),
      ),
      waterfall.loadEndMs > 0
        ? Plot.ruleX([waterfall.loadEndMs], {
            stroke: 'var(--hw-load)',
            strokeWidth: 1.5,
            ...(waterfall.pltMs === null && { strokeDasharray: '3 3' }),
          })
        : null,
      Plot.text(later, {
        x: endMs,
        y: 'index',
        text: (row: { endMs: number }) => `→ ${formatDuration(row.endMs)}`,
        title: 'title',
        textAnchor: 'start',
        dx: 4,
        dy: isNarrow ? NAME_HEIGHT / 2 : 0,
        fill: 'var(--hw-text)',
      }),
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
        ...before.map((each) => [each.kind, describeMilestone(each)]),
        ...(waterfall.loadEndMs > 0 ? [['load', describeLoadEnd(waterfall)]] : []),
      ] as [string, string][],
      el,
    ),
    el('div', { class: 'hw-scroll', role: 'group', 'aria-label': label }, axis, plot),
    later.length > 0 ? el('p', { class: 'hw-note' }, t('waterfallLater')) : null,
    hidden > 0 ? el('p', { class: 'hw-note' }, t('waterfallHidden', { count: hidden })) : null,
    el(
      'details',
      { class: 'hw-note' },
      el('summary', {}, t('waterfallWhole')),
      el('ol', {}, ...rows.map((row) => el('li', {}, describeTimes(row), el('br'), row.url))),
    ),
  );
}

function describeLoadEnd({ pltMs, loadEndMs }: Waterfall): string {
  const time = formatDuration(loadEndMs);
  return pltMs === null ? t('waterfallLoadGuess', { time }) : t('waterfallLoadEvent', { time });
}

/** Each name to the left of its bar. */
function nameBeside(rows: readonly WaterfallRow[], pageUrl: string): Plot.Markish {
  return Plot.axisY({
    tickFormat: (index: number) => formatUrl(rows[index]!.url, pageUrl),
    title: (index: number) => describeRow(rows[index]!),
    tickSize: 0,
    label: null,
    fill: 'var(--hw-text)',
  });
}

function nameAbove(rows: readonly WaterfallRow[], pageUrl: string, width: number): Plot.Markish {
  const length = Math.floor((width - SCROLLBAR_WIDTH) / CHARACTER_WIDTH);
  return Plot.text(rows, {
    y: (_row, index: number) => index,
    text: ({ url }: WaterfallRow) => formatUrl(url, pageUrl, length),
    title: describeRow,
    frameAnchor: 'left',
    dy: NAME_HEIGHT / 2 - NARROW_ROW_HEIGHT / 2,
    fill: 'var(--hw-text)',
    stroke: 'var(--hw-surface)',
    strokeWidth: 3,
    className: 'hw-names',
  });
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
  return [visible(row.url), describeTimes(row), ...times].join('\n');
}

function describeTimes({ protocol, startMs, endMs }: WaterfallRow): string {
  const name = protocol ? PROTOCOL_NAME[protocol] : t('protocolWithheld');
  return t('waterfallRow', { protocol: name, start: formatMs(startMs), end: formatMs(endMs) });
}
