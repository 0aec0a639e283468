import {
  PROTOCOL_NAME,
  type Prediction,
  type Protocol,
  type Recording,
  type ResourceType,
} from '@hopwise/contract';
import { type Explanation, PROTOCOLS } from '@hopwise/pageload-emulator';
import { type PlainKey, plural, t } from '../../language/translate.ts';
import { builder } from '../../ui/dom.ts';
import { formatDuration, formatOrigin } from '../../ui/format.ts';
import { namePhase, type WaterfallRow } from '../../ui/waterfall.ts';
import { nameOf, renderDetails } from './row-details.ts';
import { RowList } from './row-list.ts';
import {
  type Filter,
  filterRows,
  joinRows,
  type LoadName,
  NO_FILTER,
  originName,
  type Row,
  rowsOf,
  type SortKey,
  sortRows,
  type TimeRange,
} from './rows.ts';
import { TimeAxis } from './time-axis.ts';

const el = builder();

const SORTS: Record<SortKey, PlainKey> = {
  start: 'sortStart',
  end: 'sortEnd',
  duration: 'sortDuration',
  size: 'sortSize',
  name: 'sortUrl',
};
/** Zoom of one turn of the wheel or one press of a button. */
const ZOOM = 1.5;
/** End of the range shown at first, as a multiple of the load time. */
const AFTER_LOAD = 1.15;

/** Requests of the recorded and the emulated loads by time: filter, search, sort, zoom, compare, and details of each. */
export class WaterfallTab {
  readonly element: HTMLElement;
  readonly #recording: Recording;
  readonly #prediction: Prediction | null;
  readonly #list = new RowList((requestId) => this.#select(requestId));
  readonly #axis = new TimeAxis((range) => this.#showRange(range));
  readonly #details = el('div', {});
  readonly #count = el('p', { class: 'hw-note', role: 'status' });
  readonly #resize: ResizeObserver;
  #explained: Explanation['protocols'] | null = null;
  #main: LoadName = 'recorded';
  #compared: LoadName | null = null;
  #sort: SortKey = 'start';
  #filter: Filter = NO_FILTER;
  #selected: number | null = null;
  #range: TimeRange | null = null;
  #rows: Row[] = [];

  constructor(recording: Recording, prediction: Prediction | null) {
    this.#recording = recording;
    this.#prediction = prediction;
    const body = el(
      'div',
      { class: 'hw-waterfall-body' },
      el(
        'div',
        { class: 'hw-row hw-row-head', 'aria-hidden': 'true' },
        el('div', {}, t('columnRequest')),
        el('div', { class: 'hw-row-size' }, t('columnSize')),
        el('div', { class: 'hw-row-time' }, t('columnTime')),
        this.#axis.element,
      ),
      this.#list.element,
    );
    body.addEventListener('wheel', (event) => this.#onWheel(event), { passive: false });
    this.element = el(
      'section',
      { class: 'hw-card hw-waterfall-tab' },
      this.#renderTools(),
      renderLegend(),
      body,
      this.#count,
      this.#details,
    );
    this.#resize = new ResizeObserver(() => this.#drawAxis());
    this.#resize.observe(this.#axis.element);
    this.#draw();
  }

  /** Draws the critical paths of the emulated loads. */
  setExplanation(explained: Explanation['protocols']): void {
    this.#explained = explained;
    this.#draw();
  }

  close(): void {
    this.#resize.disconnect();
    this.#list.close();
  }

  #renderTools(): HTMLElement {
    const prediction = this.#prediction;
    const loads: LoadName[] = ['recorded', ...PROTOCOLS.filter((each) => prediction?.waterfall[each])];
    const names = (name: LoadName) =>
      name === 'recorded' ? t('toolRecorded') : t('toolPredicted', { protocol: PROTOCOL_NAME[name] });
    const { requests } = this.#recording;
    const types = [...new Set(requests.map(({ type }) => type))].sort();
    const origins = [...new Set(requests.map(({ url }) => originName(url)))];
    const protocols = PROTOCOLS.filter((each) => requests.some(({ protocol }) => protocol === each));
    const search = el('input', {
      type: 'search',
      placeholder: t('toolSearch'),
      'aria-label': t('toolSearch'),
    });
    search.addEventListener('input', () => this.#setFilter({ text: search.value }));
    const critical = el('input', { type: 'checkbox' });
    critical.addEventListener('change', () => this.#setFilter({ isCriticalOnly: critical.checked }));
    return el(
      'div',
      { class: 'hw-tools' },
      choose(
        t('toolLoad'),
        loads.map((name) => [name, names(name)]),
        (value) => {
          this.#main = value as LoadName;
          this.#range = null;
          this.#draw();
        },
      ),
      choose(
        t('toolCompare'),
        [
          ['', t('toolCompareNone')],
          ...loads.map((name): [string, string] => [
            name,
            t('toolWith', { name: name === 'recorded' ? nameOf(name) : PROTOCOL_NAME[name] }),
          ]),
        ],
        (value) => {
          this.#compared = (value || null) as LoadName | null;
          this.#range = null;
          this.#draw();
        },
      ),
      search,
      choose(
        t('toolType'),
        [['', t('toolAllTypes')], ...types.map((type): [string, string] => [type, type])],
        (value) => this.#setFilter({ type: (value || null) as ResourceType | null }),
      ),
      choose(
        t('columnOrigin'),
        [
          ['', t('toolAllOrigins')],
          ...origins.map((origin): [string, string] => [origin, formatOrigin(origin)]),
        ],
        (value) => this.#setFilter({ origin: value || null }),
      ),
      protocols.length > 1
        ? choose(
            t('columnProtocol'),
            [
              ['', t('toolAllProtocols')],
              ...protocols.map((each): [string, string] => [each, PROTOCOL_NAME[each]]),
            ],
            (value) => this.#setFilter({ protocol: (value || null) as Protocol | null }),
          )
        : null,
      choose(
        t('toolSort'),
        Object.entries(SORTS).map(([key, name]) => [key, t(name)]),
        (value) => {
          this.#sort = value as SortKey;
          this.#draw();
        },
      ),
      el('label', { class: 'hw-check' }, critical, t('toolCriticalOnly')),
      el(
        'span',
        { class: 'hw-zoom', role: 'group', 'aria-label': t('zoom') },
        press('−', t('zoomOut'), () => this.#axis.zoomBy(ZOOM)),
        press('+', t('zoomIn'), () => this.#axis.zoomBy(1 / ZOOM)),
        press('◀', t('toolEarlier'), () => this.#axis.moveBy(-0.5)),
        press('▶', t('toolLater'), () => this.#axis.moveBy(0.5)),
        press(t('zoomAll'), t('toolAllOfLoad'), () => this.#axis.showAll()),
      ),
    );
  }

  #setFilter(change: Partial<Filter>): void {
    this.#filter = { ...this.#filter, ...change };
    this.#draw();
  }

  #load(name: LoadName): WaterfallRow[] | null {
    return rowsOf(this.#recording, this.#prediction, name);
  }

  #pltMs(name: LoadName): number | null {
    if (name === 'recorded') return this.#recording.pltMs;
    const time = this.#prediction?.protocols[name];
    return time && 'pltMs' in time ? time.pltMs : null;
  }

  get #criticalPath() {
    const explained = this.#main === 'recorded' ? undefined : this.#explained?.[this.#main];
    return explained && 'criticalPath' in explained ? explained.criticalPath : [];
  }

  #draw(): void {
    const main = this.#load(this.#main) ?? [];
    const compared = this.#compared && this.#load(this.#compared);
    const all = joinRows(this.#recording, main, compared, this.#criticalPath);
    this.#rows = sortRows(filterRows(all, this.#filter), this.#sort);
    this.#range ??= { fromMs: 0, toMs: this.#shownEndMs() };
    this.#count.textContent =
      this.#filter.isCriticalOnly && this.#main === 'recorded'
        ? t('waterfallCriticalHint')
        : `${countRows(this.#rows.length, all.length)}${this.#pltNote()}`;
    this.#showRange(this.#range);
    this.#drawDetails();
  }

  #pltNote(): string {
    const notes = [this.#main, ...(this.#compared ? [this.#compared] : [])].flatMap((name) => {
      const ms = this.#pltMs(name);
      return ms === null
        ? []
        : name === 'recorded'
          ? t('waterfallRecordedAt', { time: formatDuration(ms) })
          : t('waterfallOverAt', { protocol: PROTOCOL_NAME[name], time: formatDuration(ms) });
    });
    return notes.length === 0 ? '.' : `; ${notes.join(', ')}.`;
  }

  /** A little beyond the load events: what comes later is shown on demand. */
  #shownEndMs(): number {
    const pltMs = [this.#main, this.#compared].map((name) => (name ? this.#pltMs(name) : 0));
    if (pltMs.includes(null)) return this.#endMs();
    return Math.min(this.#endMs(), AFTER_LOAD * Math.max(1, ...pltMs.filter((ms) => ms !== null)));
  }

  /** Until the last response of either load. */
  #endMs(): number {
    const loads = [this.#load(this.#main), this.#compared && this.#load(this.#compared)];
    const ends = loads.flatMap((rows) => (rows ?? []).map(({ endMs }) => endMs));
    return Math.max(1, this.#pltMs(this.#main) ?? 0, ...ends) * 1.01;
  }

  #showRange(range: TimeRange): void {
    this.#range = range;
    this.#drawAxis();
    this.#list.show({
      rows: this.#rows,
      range,
      pageUrl: this.#recording.url,
      pltMs: this.#pltMs(this.#main),
      selected: this.#selected,
    });
  }

  #drawAxis(): void {
    if (this.#range) this.#axis.show(this.#range, this.#endMs(), this.#pltMs(this.#main));
  }

  #onWheel(event: WheelEvent): void {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const { left, width } = this.#axis.element.getBoundingClientRect();
    this.#axis.zoomBy(
      event.deltaY > 0 ? ZOOM : 1 / ZOOM,
      Math.min(1, Math.max(0, (event.clientX - left) / width)),
    );
  }

  #select(requestId: number): void {
    this.#selected = this.#selected === requestId ? null : requestId;
    this.#showRange(this.#range!);
    this.#drawDetails();
  }

  #drawDetails(): void {
    const row = this.#rows.find(({ request }) => request.id === this.#selected);
    this.#details.replaceChildren();
    if (!row) return;
    this.#details.append(
      renderDetails(this.#recording, row, {
        mainName: nameOf(this.#main),
        comparedName: this.#compared ? nameOf(this.#compared) : '',
        onSelect: (requestId) => {
          this.#selected = requestId;
          this.#draw();
          this.#list.focus(requestId);
        },
        onClose: () => this.#select(row.request.id),
      }),
    );
  }
}

function choose(
  label: string,
  options: readonly [string, string][],
  onChange: (value: string) => void,
): HTMLElement {
  const select = el(
    'select',
    { 'aria-label': label },
    ...options.map(([value, text]) => el('option', { value }, text)),
  );
  select.addEventListener('change', () => onChange(select.value));
  return select;
}

function press(text: string, label: string, onPress: () => void): HTMLElement {
  const button = el(
    'button',
    { type: 'button', class: 'hw-button', 'aria-label': label, title: label },
    text,
  );
  button.addEventListener('click', onPress);
  return button;
}

function countRows(shown: number, all: number): string {
  const requests = plural('requests', all);
  return shown === all ? requests : t('waterfallSome', { shown, requests });
}

function renderLegend(): HTMLElement {
  const item = (mark: string, label: string) =>
    el('li', {}, el('span', { class: `hw-swatch ${mark}`, 'aria-hidden': 'true' }), label);
  return el(
    'ul',
    { class: 'hw-legend' },
    ...PROTOCOLS.map((protocol) => item(`hw-swatch-${protocol}`, PROTOCOL_NAME[protocol])),
    item('hw-swatch-queued', namePhase('queued')),
    item('hw-swatch-connecting', namePhase('connecting')),
    item('hw-swatch-waiting', t('legendWaiting')),
    item('hw-swatch-receiving', namePhase('receiving')),
    item('hw-swatch-load', t('legendLoadEvent')),
    item('hw-swatch-critical', t('legendCritical')),
  );
}
