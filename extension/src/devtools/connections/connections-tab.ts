import { PROTOCOL_NAME, type Protocol, type Recording } from '@hopwise/contract';
import { CAUSES, type Explanation, PROTOCOLS, type ProtocolExplanation } from '@hopwise/pageload-emulator';
import { plural, t } from '../../language/translate.ts';
import { renderButton } from '../../ui/controls.ts';
import { builder } from '../../ui/dom.ts';
import { formatBytes, formatMs, formatOrigin, formatUrl } from '../../ui/format.ts';
import { nameCause } from '../name-cause.ts';
import { renderTicks } from '../waterfall/time-axis.ts';
import { type ConnectionRow, layOutConnections } from './streams.ts';

const el = builder();

/** Height of a lane, CSS pixels: connections with many lanes get thinner ones. */
const LANE_HEIGHT = 7;
const MIN_LANE_HEIGHT = 2;
const MAX_HEIGHT = 90;
const TICKS = 6;
/** The axis is at least as wide, CSS pixels. */
const AXIS_WIDTH = 160;

/** Each connection of an emulated load with its handshake and the requests that it carries side by side. */
export class ConnectionsTab {
  readonly element = el('section', { class: 'hw-card' });
  readonly #recording: Recording;
  #explained: Explanation['protocols'] | null = null;
  #protocol: Protocol;

  constructor(recording: Recording, protocol: Protocol) {
    this.#recording = recording;
    this.#protocol = protocol;
    this.#draw();
  }

  setExplanation(explained: Explanation['protocols']): void {
    this.#explained = explained;
    this.#draw();
  }

  #draw(): void {
    const explained = this.#explained;
    if (!explained) {
      this.element.replaceChildren(el('p', { class: 'hw-muted', role: 'status' }, t('panelEmulating')));
      return;
    }
    const loading = PROTOCOLS.filter((protocol) => 'connections' in explained[protocol]);
    if (!loading.includes(this.#protocol)) this.#protocol = loading[0] ?? 'h2';
    const buttons = loading.map((protocol) => {
      const onClick = () => {
        this.#protocol = protocol;
        this.#draw();
      };
      const isPressed = String(protocol === this.#protocol);
      return renderButton(PROTOCOL_NAME[protocol], onClick, { 'aria-pressed': isPressed });
    });
    const own = explained[this.#protocol];
    this.element.replaceChildren(
      el('h3', {}, t('connectionsTitle')),
      el('div', { class: 'hw-switch' }, ...buttons),
      ...('connections' in own
        ? [
            el('p', { class: 'hw-muted' }, describeCauses(own)),
            this.#renderRows(layOutConnections(own), own.explainedPltMs),
          ]
        : [el('p', { class: 'hw-muted' }, own.unavailable)]),
    );
  }

  #renderRows(rows: readonly ConnectionRow[], pltMs: number): HTMLElement {
    const endMs = Math.max(pltMs, ...rows.map((row) => row.endMs)) * 1.01;
    const place = (ms: number) => `${(100 * ms) / endMs}%`;
    const axis = el(
      'div',
      { class: 'hw-axis-row' },
      ...renderTicks({ fromMs: 0, toMs: endMs }, TICKS, AXIS_WIDTH),
    );
    return el(
      'div',
      { class: 'hw-connections', role: 'table', 'aria-label': t('panelConnections') },
      el(
        'div',
        { class: 'hw-connection', 'aria-hidden': 'true' },
        el('div', {}, plural('connections', rows.length)),
        axis,
      ),
      ...rows.map((row) => this.#renderRow(row, pltMs, place)),
    );
  }

  #renderRow(
    { connection, streams, lanes }: ConnectionRow,
    pltMs: number,
    place: (ms: number) => string,
  ): HTMLElement {
    const { origin, openingMs, openMs, requests, bytes, lost, timeouts } = connection;
    const laneHeight = Math.max(MIN_LANE_HEIGHT, Math.min(LANE_HEIGHT, MAX_HEIGHT / lanes));
    const chart = el('div', { class: 'hw-connection-chart', role: 'cell' });
    chart.style.height = `${Math.max(16, lanes * laneHeight + 4)}px`;
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
      const { requestId, sentMs, firstByteMs, endMs } = entry;
      const url = formatUrl(this.#recording.requests[requestId]?.url ?? '', this.#recording.url);
      bar(
        `hw-of-${this.#protocol} hw-phase-waiting`,
        sentMs,
        firstByteMs,
        lane,
        t('connectionsWaiting', { url, time: formatMs(firstByteMs - sentMs) }),
      );
      bar(
        `hw-of-${this.#protocol}`,
        firstByteMs,
        endMs,
        lane,
        t('connectionsReceiving', { url, time: formatMs(endMs - firstByteMs) }),
      );
    }
    const line = el('div', { class: 'hw-load-line' });
    line.style.left = place(pltMs);
    chart.append(line);
    const lostPackets = lost.random + lost.queue + lost.policed;
    const notes = [
      plural('requests', requests),
      formatBytes(bytes),
      ...(lostPackets > 0 ? [plural('connectionsLost', lostPackets)] : []),
      ...(timeouts > 0 ? [plural('timeouts', timeouts)] : []),
    ];
    return el(
      'div',
      { class: 'hw-connection', role: 'row' },
      el(
        'div',
        { role: 'rowheader', title: origin },
        el('span', { class: 'hw-connection-origin' }, formatOrigin(origin)),
        el('span', { class: 'hw-note' }, notes.join(', ')),
      ),
      chart,
    );
  }
}

/** Causes of a smaller share of the load time are not named. */
const MIN_CAUSE_SHARE = 0.02;

/** `The load event comes after 2.3 s: 900 ms round trips of requests, …` */
function describeCauses({ explainedPltMs, causes }: ProtocolExplanation): string {
  const largest = CAUSES.filter((cause) => causes[cause] >= MIN_CAUSE_SHARE * explainedPltMs)
    .sort((a, b) => causes[b] - causes[a])
    .map((cause) => `${formatMs(causes[cause])} ${nameCause(cause)}`);
  return t('connectionsStory', { time: formatMs(explainedPltMs), causes: largest.join(', ') });
}
