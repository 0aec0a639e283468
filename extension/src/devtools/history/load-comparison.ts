import type { Recording } from '@hopwise/contract';
import { plural, t } from '../../language/translate.ts';
import type { StoredLoad } from '../../storage/loads.ts';
import { builder } from '../../ui/dom.ts';
import { recordedWaterfall } from '../../ui/waterfall.ts';
import { renderDetails } from '../waterfall/row-details.ts';
import { RowList } from '../waterfall/row-list.ts';
import type { Row, TimeRange } from '../waterfall/rows.ts';
import { TimeAxis } from '../waterfall/time-axis.ts';
import { listDifferences } from './differences.ts';
import { formatTime } from './loads-table.ts';
import { type MatchedRequests, matchRequests } from './match-requests.ts';

const el = builder();

/** Two loads of a page: their figures side by side, their requests one over another. */
export class LoadComparison {
  readonly element: HTMLElement;
  readonly #list = new RowList((requestId) => this.#select(requestId));
  readonly #axis = new TimeAxis((range) => this.#show(range));
  readonly #details = el('div', {});
  readonly #resize: ResizeObserver;
  readonly #later: Recording;
  readonly #rows: Row[];
  readonly #endMs: number;
  #range: TimeRange;
  #selected: number | null = null;

  constructor(earlier: StoredLoad, later: StoredLoad) {
    this.#later = later.recording;
    const matched = matchRequests(earlier.recording, later.recording);
    this.#rows = joinLoads(earlier.recording, later.recording, matched);
    this.#endMs = 1.01 * Math.max(1, ...[earlier, later].map(({ recording }) => endOf(recording)));
    this.#range = { fromMs: 0, toMs: this.#endMs };
    this.element = el(
      'section',
      { class: 'hw-card', 'aria-label': t('compareLabel') },
      el('h3', {}, t('compareTitle')),
      renderDifferences(earlier, later),
      renderUnmatched(matched),
      el('p', { class: 'hw-note' }, t('compareNote')),
      el(
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
      ),
      this.#details,
    );
    this.#resize = new ResizeObserver(() => this.#drawAxis());
    this.#resize.observe(this.#axis.element);
    this.#show(this.#range);
  }

  close(): void {
    this.#resize.disconnect();
    this.#list.close();
  }

  #show(range: TimeRange): void {
    this.#range = range;
    this.#drawAxis();
    this.#list.show({
      rows: this.#rows,
      range,
      pageUrl: this.#later.url,
      pltMs: this.#later.pltMs,
      selected: this.#selected,
    });
  }

  #drawAxis(): void {
    this.#axis.show(this.#range, this.#endMs, this.#later.pltMs);
  }

  #select(requestId: number): void {
    this.#selected = this.#selected === requestId ? null : requestId;
    this.#show(this.#range);
    const row = this.#rows.find(({ request }) => request.id === this.#selected);
    this.#details.replaceChildren();
    if (!row) return;
    this.#details.append(
      renderDetails(this.#later, row, {
        mainName: t('nameLater'),
        comparedName: t('nameEarlier'),
        onSelect: (id) => {
          this.#select(id);
          this.#list.focus(id);
        },
        onClose: () => this.#select(row.request.id),
      }),
    );
  }
}

/** Until the last response or the load event. */
const endOf = ({ requests, pltMs }: Recording) => Math.max(pltMs ?? 0, ...requests.map(({ endMs }) => endMs));

function joinLoads(earlier: Recording, later: Recording, { earlierOf }: MatchedRequests): Row[] {
  const earlierRows = recordedWaterfall(earlier).rows;
  return recordedWaterfall(later).rows.map((main) => {
    const same = earlierOf.get(main.requestId);
    return {
      request: later.requests[main.requestId]!,
      main,
      compared: same ? earlierRows[same.id]! : null,
      critical: null,
    };
  });
}

function renderDifferences(earlier: StoredLoad, later: StoredLoad): HTMLElement {
  const head = ['', formatTime(earlier), formatTime(later), t('columnChange')];
  return el(
    'div',
    { class: 'hw-scroll', tabindex: '0', role: 'group', 'aria-label': t('compareFigures') },
    el(
      'table',
      { class: 'hw-table' },
      el(
        'thead',
        {},
        el('tr', {}, ...head.map((text) => (text ? el('th', { scope: 'col' }, text) : el('td')))),
      ),
      el(
        'tbody',
        {},
        ...listDifferences(earlier, later).map((row) =>
          el(
            'tr',
            {},
            el('th', { scope: 'row' }, row.name),
            ...[row.earlier, row.later, row.change].map((text) => el('td', {}, text)),
          ),
        ),
      ),
    ),
  );
}

function renderUnmatched({ earlierOnly, laterOnly }: MatchedRequests): HTMLElement | null {
  const parts = [
    earlierOnly.length > 0
      ? t('compareEarlierOnly', { requests: plural('requests', earlierOnly.length) })
      : '',
    laterOnly.length > 0 ? t('compareLaterOnly', { count: laterOnly.length }) : '',
  ].filter(Boolean);
  if (parts.length === 0) return null;
  return el(
    'details',
    { class: 'hw-rest' },
    el('summary', {}, `${parts.join(', ')}.`),
    el('ul', {}, ...[...earlierOnly, ...laterOnly].map(({ url }) => el('li', {}, url))),
  );
}
