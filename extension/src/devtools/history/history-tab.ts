import { messageOf } from '@hopwise/contract';
import { plural, t } from '../../language/translate.ts';
import { describeOutcome } from '../../pins/page/pin-text.ts';
import { getAllLoads, type StoredLoad } from '../../storage/loads.ts';
import { builder } from '../../ui/dom.ts';
import {
  createDurationFormat,
  formatLoss,
  formatMbps,
  formatMs,
  keepUnitsTogether,
} from '../../ui/format.ts';
import type { EmulationClient } from '../emulation/emulation-client.ts';
import type { PooledFigure, SeenNetwork } from '../emulation/pooled-network.ts';
import { LoadComparison } from './load-comparison.ts';
import { formatNetwork, LoadsTable } from './loads-table.ts';
import { describePins, type PageHistory, type PinGroup, readHistory } from './page-history.ts';
import { findTrend, type TrendPoint } from './trend.ts';
import { renderTrend } from './trend-view.ts';

const el = builder();

/** Networks are estimated for as many of the newest loads: each takes about 0.2 s in the worker. */
const MAX_ESTIMATED_LOADS = 12;

/** Stored loads of a page: their list, what they show together, and two of them compared. */
export class HistoryTab {
  readonly element = el('div', { class: 'hw-history' }, el('p', { class: 'hw-empty' }, t('historyReading')));
  readonly #pooled = el('p', { class: 'hw-note' });
  readonly #compared = el('div', {});
  readonly #shown: StoredLoad;
  readonly #emulation: EmulationClient;
  #comparison: LoadComparison | null = null;
  #selected: readonly number[] = [];
  /** Numbers of the listed loads, as one text. */
  #listed = '';
  #resize: ResizeObserver | null = null;
  #isClosed = false;
  /** Figures of the networks of the trend, by their names. */
  readonly #figures = new Map<string, string>();
  #drawTrend = () => {};

  /** @param shown the load that the panel shows */
  constructor(shown: StoredLoad, emulation: EmulationClient) {
    this.#shown = shown;
    this.#emulation = emulation;
  }

  /** Reads the stored loads, and draws them if there are others than before. */
  async refresh(): Promise<void> {
    try {
      const history = readHistory(this.#shown, await getAllLoads());
      const listed = history.loads.map(({ id }) => id).join(' ');
      if (this.#isClosed || listed === this.#listed) return;
      this.#listed = listed;
      this.#draw(history);
    } catch (error) {
      const problem = messageOf(error);
      this.element.replaceChildren(el('p', { class: 'hw-card' }, t('historyUnreadable', { problem })));
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#resize?.disconnect();
    this.#comparison?.close();
  }

  #draw({ loads, comparable, groups }: PageHistory): void {
    const { id: shownId } = this.#shown;
    const trend = findTrend(loads);
    const table = new LoadsTable(loads, shownId, (ids) => this.#compare(loads, ids));
    this.element.replaceChildren(
      ...this.#renderTrend(trend),
      el(
        'section',
        { class: 'hw-card' },
        el('h3', {}, plural('historyLoads', loads.length)),
        el('div', { class: 'hw-scroll' }, table.element),
      ),
      el(
        'section',
        { class: 'hw-card' },
        el('h3', {}, t('historyTogether')),
        ...renderGroups(groups),
        this.#pooled,
      ),
      this.#compared,
    );
    const other = loads.find(({ id }) => id !== shownId);
    const kept = this.#selected.filter((id) => loads.some((load) => load.id === id));
    table.select(kept.length > 0 ? kept : [...(other ? [other.id] : []), shownId]);
    const estimated = loads.slice(0, MAX_ESTIMATED_LOADS).reverse();
    this.#emulation.askNetwork(
      estimated.map(({ id, recording }) => ({
        recording,
        isPooled: comparable.some((load) => load.id === id),
      })),
      ({ index, own, pooled }) => {
        const { id } = estimated[index]!;
        table.setNetwork(id, own);
        const point = trend.find(({ load }) => load.id === id);
        if (point) this.#figures.set(point.network, formatNetwork(own));
        this.#drawTrend();
        if (pooled) this.#pooled.textContent = describePooled(pooled);
      },
    );
  }

  /** The trend of the load times, drawn anew where its width changes; nothing for a single load. */
  #renderTrend(points: readonly TrendPoint[]): HTMLElement[] {
    this.#resize?.disconnect();
    this.#figures.clear();
    this.#drawTrend = () => {};
    if (points.length < 2) return [];
    const frame = el('div', {});
    let drawnPx = 0;
    this.#drawTrend = () => {
      if (drawnPx > 0) frame.replaceChildren(renderTrend(points, drawnPx, this.#figures));
    };
    this.#resize = new ResizeObserver(() => {
      const width = frame.clientWidth;
      if (width === drawnPx || width === 0) return;
      drawnPx = width;
      this.#drawTrend();
    });
    this.#resize.observe(frame);
    return [el('section', { class: 'hw-card' }, el('h3', {}, t('trendTitle')), frame)];
  }

  #compare(loads: readonly StoredLoad[], ids: readonly number[]): void {
    this.#selected = ids;
    this.#comparison?.close();
    this.#comparison = null;
    // The list has the newest first.
    const [later, earlier] = loads.filter(({ id }) => ids.includes(id));
    if (later && earlier) this.#comparison = new LoadComparison(earlier, later);
    const hint = loads.length > 1 ? t('compareSelect') : t('compareOne');
    this.#compared.replaceChildren(this.#comparison?.element ?? el('p', { class: 'hw-card hw-muted' }, hint));
  }
}

function renderGroups(groups: readonly PinGroup[]): HTMLElement[] {
  if (groups.length === 0) return [el('p', {}, t('historyNoFull'))];
  const write = createDurationFormat(Math.max(...groups.map(({ highestMs }) => highestMs)));
  const head = [t('diffPins'), t('columnLoads'), t('columnMedian'), t('columnRange')];
  const table = el(
    'table',
    { class: 'hw-table' },
    el('thead', {}, el('tr', {}, ...head.map((text) => el('th', { scope: 'col' }, text)))),
    el(
      'tbody',
      {},
      ...groups.map(({ pinned, loads, medianMs, lowestMs, highestMs }) =>
        el(
          'tr',
          {},
          el('th', { scope: 'row' }, describePins(pinned)),
          ...[String(loads.length), write(medianMs), `${write(lowestMs)} – ${write(highestMs)}`].map((text) =>
            el('td', { class: 'hw-number' }, keepUnitsTogether(text)),
          ),
        ),
      ),
    ),
  );
  const scrolled = el(
    'div',
    { class: 'hw-scroll', tabindex: '0', role: 'group', 'aria-label': t('historyTogether') },
    table,
  );
  const outcomes = groups.flatMap(({ pinned, outcome }) =>
    outcome ? [el('li', {}, `${describePins(pinned)}: ${describeOutcome(outcome)}`)] : [],
  );
  if (outcomes.length === 0) return [scrolled];
  return [
    table,
    el('p', { class: 'hw-note' }, t('historyIntervals')),
    el('ul', { class: 'hw-reasons' }, ...outcomes),
  ];
}

/** `Network of 4 loads: round trip 62 ms (60 – 64 ms), …`. */
function describePooled({ loads, rttMs, downMbps, upMbps, loss }: SeenNetwork): string {
  const figure = ({ median, low, high }: PooledFigure, write: (value: number) => string) =>
    `${write(median)} (${write(low)} – ${write(high)})`;
  const figures = {
    rtt: figure(rttMs, formatMs),
    down: figure(downMbps, formatMbps),
    up: figure(upMbps, formatMbps),
    loss: figure(loss, formatLoss),
  };
  return keepUnitsTogether(plural('historyNetwork', loads, figures));
}
