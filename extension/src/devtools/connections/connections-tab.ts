import { PROTOCOL_NAME, type Protocol, type Recording } from '@hopwise/contract';
import {
  CAUSES,
  type Explanation,
  loadEndMs,
  PROTOCOLS,
  type ProtocolExplanation,
} from '@hopwise/pageload-emulator';
import { formatNumber } from '../../language/format-number.ts';
import { plural, t } from '../../language/translate.ts';
import { renderButton } from '../../ui/controls.ts';
import { builder } from '../../ui/dom.ts';
import {
  formatBytes,
  formatDuration,
  formatMs,
  formatOrigin,
  formatUrl,
  keepUnitsTogether,
} from '../../ui/format.ts';
import { namePhase, renderLegend, shownEndMs } from '../../ui/waterfall.ts';
import { nameCause } from '../name-cause.ts';
import { renderLaterMark } from '../waterfall/later-mark.ts';
import { renderTicks } from '../waterfall/time-axis.ts';
import { type ConnectionRow, layOutConnections, layOutRecorded } from './streams.ts';

const el = builder();

/** Height of a lane, CSS pixels: connections with many lanes get thinner ones. */
const LANE_HEIGHT = 7;
const MIN_LANE_HEIGHT = 2;
const MAX_HEIGHT = 90;
/** Approximate distance between two ticks, pixels. */
const TICK_SPACING = 90;

/** Each connection with its handshake and the requests that it carries side by side: recorded, and beside it emulated. */
export class ConnectionsTab {
  readonly element = el('section', { class: 'hw-card' });
  readonly #recording: Recording;
  readonly #recorded: readonly ConnectionRow[];
  #explained: Explanation['protocols'] | null = null;
  #protocol: Protocol;
  /** Draws an axis anew where its width has changed. */
  readonly #resize = new ResizeObserver((entries) => {
    for (const { target } of entries) this.#drawAxis(target as HTMLElement);
  });
  #endMs = 1;

  constructor(recording: Recording, protocol: Protocol) {
    this.#recording = recording;
    this.#recorded = layOutRecorded(recording);
    this.#protocol = protocol;
    this.#draw();
  }

  setExplanation(explained: Explanation['protocols']): void {
    this.#explained = explained;
    this.#draw();
  }

  #draw(): void {
    const explained = this.#explained;
    const loading = PROTOCOLS.filter((protocol) => explained && 'connections' in explained[protocol]);
    if (explained && !loading.includes(this.#protocol)) this.#protocol = loading[0] ?? 'h2';
    const buttons = loading.map((protocol) => {
      const onClick = () => {
        this.#protocol = protocol;
        this.#draw();
      };
      const isPressed = String(protocol === this.#protocol);
      return renderButton(PROTOCOL_NAME[protocol], onClick, { 'aria-pressed': isPressed });
    });
    const own = explained?.[this.#protocol];
    const emulated = own && 'connections' in own ? own : null;
    const rows = emulated ? layOutConnections(emulated, this.#protocol) : [];
    const { pltMs, requests } = this.#recording;
    const endMs =
      1.01 *
      shownEndMs({
        rows: [...rows, ...this.#recorded],
        loadEndMs: Math.max(loadEndMs(this.#recording), emulated?.explainedPltMs ?? 0),
      });
    this.#endMs = endMs;
    this.#resize.disconnect();
    const isUnnamed = requests.every(({ connectionId }) => connectionId === null);
    this.element.replaceChildren(
      renderLegend([
        ...PROTOCOLS.map((protocol): [string, string] => [protocol, PROTOCOL_NAME[protocol]]),
        ['connecting', namePhase('connecting')],
        [`${this.#protocol} waiting`, t('legendWaiting')],
        [`${this.#protocol} receiving`, namePhase('receiving')],
        ['load', t('legendLoadEvent')],
      ]),
      el(
        'div',
        { class: 'hw-connections-pair' },
        el(
          'div',
          {},
          el('h3', {}, describeRecorded(plural('connections', this.#recorded.length), pltMs)),
          isUnnamed ? el('p', { class: 'hw-note' }, t('connectionsUnnamed')) : null,
          this.#renderRows(t('connectionsRecorded'), this.#recorded, { pltMs, endMs }),
        ),
        el(
          'div',
          { class: 'hw-connections-emulated' },
          ...(emulated
            ? [
                el(
                  'h3',
                  {},
                  t('connectionsEmulatedTitle', {
                    protocol: PROTOCOL_NAME[this.#protocol],
                    connections: plural('connections', rows.length),
                    time: formatDuration(emulated.explainedPltMs),
                  }),
                ),
                el('div', { class: 'hw-switch' }, ...buttons),
                el('p', { class: 'hw-muted' }, describeCauses(emulated)),
                this.#renderRows(t('panelConnections'), rows, { pltMs: emulated.explainedPltMs, endMs }),
              ]
            : [el('p', { class: 'hw-muted', role: 'status' }, describeMissing(own))]),
        ),
      ),
    );
  }

  #renderRows(
    label: string,
    rows: readonly ConnectionRow[],
    { pltMs, endMs }: { pltMs: number | null; endMs: number },
  ): HTMLElement {
    const place = (ms: number) => `${(100 * ms) / endMs}%`;
    const axis = el('div', {
      class: 'hw-axis-row',
      role: 'columnheader',
      'aria-label': t('columnWaterfall'),
    });
    this.#resize.observe(axis);
    const head = (text: string, className: string) =>
      el('div', { class: `hw-cell ${className}`, role: 'columnheader' }, text);
    return el(
      'div',
      { class: 'hw-connections', role: 'table', 'aria-label': label },
      el(
        'div',
        { class: 'hw-connection hw-connection-head', role: 'row' },
        head(t('columnOrigin'), ''),
        head(t('columnRequests'), 'hw-number'),
        head(t('columnSize'), 'hw-number'),
        head(t('columnLost'), 'hw-number'),
        axis,
      ),
      ...rows.map((row) => this.#renderRow(row, pltMs, place)),
    );
  }

  #drawAxis(axis: HTMLElement): void {
    const { clientWidth } = axis;
    const count = Math.max(2, Math.floor(clientWidth / TICK_SPACING));
    axis.replaceChildren(...renderTicks({ fromMs: 0, toMs: this.#endMs }, count, clientWidth));
  }

  #renderRow(
    { connection, protocol, streams, lanes, endMs }: ConnectionRow,
    pltMs: number | null,
    place: (ms: number) => string,
  ): HTMLElement {
    const { origin, openingMs, openMs, requests, bytes, lost, timeouts } = connection;
    const laneHeight = Math.max(MIN_LANE_HEIGHT, Math.min(LANE_HEIGHT, MAX_HEIGHT / lanes));
    const chart = el('div', { class: 'hw-connection-chart', role: 'cell' });
    chart.style.minHeight = `${lanes * laneHeight + 4}px`;
    const bar = (className: string, fromMs: number, toMs: number, lane: number, title: string) => {
      const element = el('div', { class: `hw-stream ${className}`, title });
      element.style.left = place(fromMs);
      element.style.width = place(Math.max(0, toMs - fromMs));
      element.style.top = `${2 + lane * laneHeight}px`;
      element.style.height = `${Math.max(1.5, laneHeight - 1)}px`;
      chart.append(element);
    };
    if (openMs !== null) {
      bar(
        'hw-handshake',
        openingMs,
        openMs,
        0,
        t('connectionsHandshake', { time: formatMs(openMs - openingMs) }),
      );
    }
    for (const { entry, lane } of streams) {
      const { requestId, sentMs, firstByteMs, endMs: receivedMs } = entry;
      const url = formatUrl(this.#recording.requests[requestId]?.url ?? '', this.#recording.url);
      bar(
        `hw-of-${protocol ?? 'unknown'} hw-phase-waiting`,
        sentMs,
        firstByteMs,
        lane,
        t('connectionsWaiting', { url, time: formatMs(firstByteMs - sentMs) }),
      );
      bar(
        `hw-of-${protocol ?? 'unknown'}`,
        firstByteMs,
        receivedMs,
        lane,
        t('connectionsReceiving', { url, time: formatMs(receivedMs - firstByteMs) }),
      );
    }
    if (pltMs !== null) {
      const line = el('div', { class: 'hw-line hw-line-load' });
      line.style.left = place(pltMs);
      chart.append(line);
    }
    const lostPackets = lost.random + lost.queue + lost.policed;
    const notes = [
      plural('requests', requests),
      formatBytes(bytes),
      ...(lostPackets > 0 ? [plural('connectionsLost', lostPackets)] : []),
      ...(timeouts > 0 ? [plural('timeouts', timeouts)] : []),
    ];
    const cell = (text: string) => el('div', { class: 'hw-cell hw-number', role: 'cell' }, text);
    if (endMs > this.#endMs) chart.append(renderLaterMark());
    return el(
      'div',
      { class: 'hw-connection', role: 'row', title: `${origin}: ${notes.join(', ')}` },
      el('div', { class: 'hw-connection-origin', role: 'rowheader' }, formatOrigin(origin)),
      cell(String(requests)),
      cell(formatBytes(bytes)),
      cell(lostPackets > 0 ? formatNumber(lostPackets) : ''),
      chart,
    );
  }
}

const describeRecorded = (connections: string, pltMs: number | null): string =>
  pltMs === null
    ? t('connectionsRecordedNever', { connections })
    : t('connectionsRecordedTitle', { connections, time: formatDuration(pltMs) });

/** Causes of a smaller share of the load time are not named. */
const MIN_CAUSE_SHARE = 0.02;

/** `Time spent: 900 ms round trips of requests, …` */
function describeCauses({ explainedPltMs, causes }: ProtocolExplanation): string {
  const largest = CAUSES.filter((cause) => causes[cause] >= MIN_CAUSE_SHARE * explainedPltMs)
    .sort((a, b) => causes[b] - causes[a])
    .map((cause) => `${formatMs(causes[cause])} ${nameCause(cause)}`);
  return keepUnitsTogether(t('connectionsStory', { causes: largest.join(', ') }));
}

/** Why there is no emulated load to show. */
function describeMissing(own: Explanation['protocols'][Protocol] | undefined): string {
  return own && 'unavailable' in own ? own.unavailable : t('panelEmulating');
}
