import {
  PROTOCOL_NAME,
  type Prediction,
  type Protocol,
  type Recording,
  type ResourceType,
} from '@hopwise/contract';
import { type Explanation, PROTOCOLS } from '@hopwise/pageload-emulator';
import { t } from '../../language/translate.ts';
import { renderSignButton } from '../../ui/controls.ts';
import { builder } from '../../ui/dom.ts';
import { formatDuration, formatOrigin } from '../../ui/format.ts';
import {
  namePhase,
  predictedWaterfall,
  recordedWaterfall,
  renderLegend as renderLegendOf,
  shownEndMs,
  type Waterfall,
  type WaterfallRow,
} from '../../ui/waterfall.ts';
import { countRequests } from '../count-requests.ts';
import { renderFolded } from '../folded-tools.ts';
import { nameType } from '../name-type.ts';
import { renderMilestones } from './milestone-list.ts';
import { nameOf, renderDetails } from './row-details.ts';
import {
  type Filter,
  filterRows,
  joinRows,
  type LoadName,
  NO_FILTER,
  originName,
  type RequestRow,
  type Sorting,
  sortRows,
  type TimeRange,
} from './rows.ts';
import { WaterfallFrame, ZOOM } from './waterfall-frame.ts';

const el = builder();

/** Times end a little later than the load, so that the mark of a load event that comes last is not cut off by the edge. */
const END_ROOM = 1.01;

/** Requests of the recorded and the emulated loads by time: filter, search, sort, zoom, compare, and details of each. */
export class WaterfallTab {
  readonly element: HTMLElement;
  readonly #recording: Recording;
  readonly #prediction: Prediction | null;
  readonly #frame = new WaterfallFrame(
    (requestId) => this.#select(requestId),
    (key) => {
      const isReversed = this.#sorting.key === key && !this.#sorting.isReversed;
      this.#sorting = { key, isReversed };
      this.#draw();
    },
  );
  readonly #details = el('div', { class: 'hw-drawer' });
  readonly #count = el('p', { class: 'hw-note', role: 'status' });
  readonly #milestones = el('div', {});
  readonly #legend = el('div', {});
  #explained: Explanation['protocols'] | null = null;
  #main: LoadName = 'recorded';
  #compared: LoadName | null;
  #sorting: Sorting = { key: 'start', isReversed: false };
  #filter: Filter = NO_FILTER;
  #selected: number | null = null;
  /** Whether the range is to be chosen anew, because other loads are shown. */
  #isRangeDue = true;
  #rows: RequestRow[] = [];

  constructor(recording: Recording, prediction: Prediction | null) {
    this.#recording = recording;
    this.#prediction = prediction;
    this.#compared = findRecommended(prediction);
    this.element = el(
      'section',
      { class: 'hw-fill' },
      this.#renderTools(),
      el('div', { class: 'hw-split' }, this.#frame.element, this.#details),
      el('div', { class: 'hw-status-bar' }, this.#count, this.#milestones, this.#legend),
    );
    this.#draw();
  }

  /** Draws the critical paths of the emulated loads. */
  setExplanation(explained: Explanation['protocols']): void {
    this.#explained = explained;
    this.#draw();
  }

  close(): void {
    this.#frame.close();
  }

  #renderTools(): HTMLElement {
    const prediction = this.#prediction;
    const loads: LoadName[] = ['recorded', ...PROTOCOLS.filter((each) => prediction?.waterfall[each])];
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
        loads.map((name) => [name, nameTool(name)]),
        (value) => {
          this.#main = value as LoadName;
          this.#isRangeDue = true;
          this.#draw();
        },
      ),
      search,
      ...renderFolded(
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
            this.#isRangeDue = true;
            this.#draw();
          },
          this.#compared ?? '',
        ),
        choose(
          t('toolType'),
          [['', t('toolAllTypes')], ...types.map((type): [string, string] => [type, nameType(type)])],
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
        el('label', { class: 'hw-check' }, critical, t('toolCriticalOnly')),
        el(
          'span',
          { class: 'hw-zoom', role: 'group', 'aria-label': t('zoom') },
          renderSignButton('−', t('zoomOut'), () => this.#frame.axis.zoomBy(ZOOM)),
          renderSignButton('+', t('zoomIn'), () => this.#frame.axis.zoomBy(1 / ZOOM)),
          renderSignButton('◀', t('toolEarlier'), () => this.#frame.axis.moveBy(-0.5)),
          renderSignButton('▶', t('toolLater'), () => this.#frame.axis.moveBy(0.5)),
          renderSignButton(t('zoomAll'), t('toolAllOfLoad'), () => this.#frame.axis.showAll()),
        ),
      ),
    );
  }

  #setFilter(change: Partial<Filter>): void {
    this.#filter = { ...this.#filter, ...change };
    this.#draw();
  }

  /** Null where the load does not exist. */
  #load(name: LoadName | null): Waterfall | null {
    if (name === null) return null;
    if (name === 'recorded') return recordedWaterfall(this.#recording);
    return this.#prediction && predictedWaterfall(this.#recording, this.#prediction, name);
  }

  get #criticalPath() {
    const explained = this.#main === 'recorded' ? undefined : this.#explained?.[this.#main];
    return explained && 'criticalPath' in explained ? explained.criticalPath : [];
  }

  #draw(): void {
    const main = this.#load(this.#main);
    const compared = this.#load(this.#compared);
    const rows = main?.rows ?? [];
    const all = joinRows(this.#recording, rows, compared?.rows ?? null, this.#criticalPath);
    this.#rows = sortRows(filterRows(all, this.#filter), this.#sorting);
    this.#frame.markSorting(this.#sorting);
    this.#count.textContent =
      this.#filter.isCriticalOnly && this.#main === 'recorded'
        ? t('waterfallCriticalHint')
        : `${this.#countRows(all.length)}${this.#describeLoads(main)}.`;
    this.#count.title = this.#count.textContent;
    const others = compared && this.#compared ? { ...compared, name: nameOf(this.#compared) } : null;
    this.#milestones.replaceChildren(renderMilestones(main?.milestones ?? [], others));
    this.#legend.replaceChildren(renderLegend(rows, this.#main !== 'recorded'));
    this.#showRows(this.#isRangeDue ? { fromMs: 0, toMs: this.#shownEndMs() } : undefined);
    this.#isRangeDue = false;
    this.#drawDetails();
  }

  #countRows(all: number): string {
    const requests = countRequests(this.#recording, this.#prediction);
    const shown = this.#rows.length;
    return shown === all ? requests : t('waterfallSome', { shown, requests });
  }

  /** Which loads the times are of, and whether the end of the load is a guess. */
  #describeLoads(main: Waterfall | null): string {
    const compared = this.#compared && `; ${nameTool(this.#main)} → ${nameTool(this.#compared)}`;
    if (!main || main.pltMs !== null) return compared ?? '';
    return `${compared ?? ''}; ${t('waterfallLoadGuess', { time: formatDuration(main.loadEndMs) })}`;
  }

  /** The loads that are shown. */
  get #shown(): Waterfall[] {
    return [this.#main, this.#compared].flatMap((name) => this.#load(name) ?? []);
  }

  /** A little beyond the end of both loads: what comes later is shown on demand. */
  #shownEndMs(): number {
    return Math.min(this.#endMs(), END_ROOM * Math.max(...this.#shown.map(shownEndMs)));
  }

  /** Until the last response and milestone of either load. */
  #endMs(): number {
    const ends = this.#shown.flatMap(({ rows, milestones }) => [
      ...rows.map(({ endMs }) => endMs),
      ...milestones.map(({ ms }) => ms),
    ]);
    return Math.max(1, ...ends) * END_ROOM;
  }

  #showRows(range?: TimeRange): void {
    const shown = {
      rows: this.#rows,
      pageUrl: this.#recording.url,
      milestones: this.#load(this.#main)?.milestones ?? [],
      comparedMilestones: this.#load(this.#compared)?.milestones ?? [],
      endMs: this.#endMs(),
      selected: this.#selected,
    };
    this.#frame.show(shown, range);
  }

  #select(requestId: number): void {
    this.#selected = this.#selected === requestId ? null : requestId;
    this.#showRows();
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
          this.#frame.focus(requestId);
        },
        onClose: () => this.#select(row.request.id),
      }),
    );
  }
}

/** The emulated load over the protocol that the recommended action moves origins to; null where nothing is recommended. */
function findRecommended(prediction: Prediction | null): Protocol | null {
  const { kind, action } = prediction?.decision ?? {};
  if (kind !== 'act' || !action?.protocol) return null;
  return prediction!.waterfall[action.protocol] ? action.protocol : null;
}

/** A load's name in the tools. */
const nameTool = (name: LoadName) =>
  name === 'recorded' ? t('toolRecorded') : t('toolPredicted', { protocol: PROTOCOL_NAME[name] });

function choose(
  label: string,
  options: readonly [string, string][],
  onChange: (value: string) => void,
  chosen = '',
): HTMLElement {
  const select = el(
    'select',
    { 'aria-label': label },
    ...options.map(([value, text]) => el('option', { value }, text)),
  );
  if (chosen !== '') select.value = chosen;
  select.addEventListener('change', () => onChange(select.value));
  return select;
}

/** @param rows of the shown load: the phases are in the colour of the protocol that most of them use */
function renderLegend(rows: readonly WaterfallRow[], hasCriticalPath: boolean): HTMLElement {
  const usesOf = (each: Protocol) => rows.filter(({ protocol }) => protocol === each).length;
  const usual = PROTOCOLS.toSorted((a, b) => usesOf(b) - usesOf(a))[0]!;
  return renderLegendOf([
    ...PROTOCOLS.map((protocol): [string, string] => [protocol, PROTOCOL_NAME[protocol]]),
    ['queued', namePhase('queued')],
    ['connecting', namePhase('connecting')],
    [`${usual} waiting`, t('legendWaiting')],
    [`${usual} receiving`, namePhase('receiving')],
    ...(hasCriticalPath ? [['critical', t('legendCritical')] as [string, string]] : []),
  ]);
}
