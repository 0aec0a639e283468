import type { Recording } from '@hopwise/contract';
import { plural, t } from '../../language/translate.ts';
import type { StoredLoad } from '../../storage/loads.ts';
import { builder } from '../../ui/dom.ts';
import { listMilestones } from '../../ui/milestones.ts';
import { recordedWaterfall, shownEndMs } from '../../ui/waterfall.ts';
import { renderDetails } from '../waterfall/row-details.ts';
import type { RequestRow, TimeRange } from '../waterfall/rows.ts';
import { WaterfallFrame } from '../waterfall/waterfall-frame.ts';
import { listDifferences } from './differences.ts';
import { formatTime } from './loads-table.ts';
import { type MatchedRequests, matchRequests } from './match-requests.ts';

const el = builder();

/** Two loads of a page: their figures side by side, their requests one over another. */
export class LoadComparison {
  readonly element: HTMLElement;
  readonly #frame = new WaterfallFrame((requestId) => this.#select(requestId));
  readonly #details = el('div', { class: 'hw-drawer' });
  readonly #earlier: Recording;
  readonly #later: Recording;
  readonly #rows: RequestRow[];
  readonly #endMs: number;
  #selected: number | null = null;

  constructor(earlier: StoredLoad, later: StoredLoad) {
    this.#earlier = earlier.recording;
    this.#later = later.recording;
    const matched = matchRequests(earlier.recording, later.recording);
    this.#rows = joinLoads(earlier.recording, later.recording, matched);
    this.#endMs = 1.01 * Math.max(1, ...[earlier, later].map(({ recording }) => endOf(recording)));
    this.element = el(
      'section',
      { class: 'hw-card', 'aria-label': t('compareLabel') },
      el('h3', {}, t('compareTitle')),
      renderDifferences(earlier, later),
      renderUnmatched(matched),
      el('p', { class: 'hw-note' }, t('compareNote')),
      el('div', { class: 'hw-split' }, this.#frame.element, this.#details),
    );
    this.#show({ fromMs: 0, toMs: Math.min(this.#endMs, Math.max(...[earlier, later].map(shownEndOf))) });
  }

  close(): void {
    this.#frame.close();
  }

  #show(range?: TimeRange): void {
    const shown = {
      rows: this.#rows,
      pageUrl: this.#later.url,
      milestones: listMilestones(this.#later),
      comparedMilestones: listMilestones(this.#earlier),
      endMs: this.#endMs,
      selected: this.#selected,
    };
    this.#frame.show(shown, range);
  }

  #select(requestId: number): void {
    this.#selected = this.#selected === requestId ? null : requestId;
    this.#show();
    const row = this.#rows.find(({ request }) => request.id === this.#selected);
    this.#details.replaceChildren();
    if (!row) return;
    this.#details.append(
      renderDetails(this.#later, row, {
        mainName: t('nameLater'),
        comparedName: t('nameEarlier'),
        onSelect: (id) => {
          this.#select(id);
          this.#frame.focus(id);
        },
        onClose: () => this.#select(row.request.id),
      }),
    );
  }
}

const shownEndOf = ({ recording }: StoredLoad) => shownEndMs(recordedWaterfall(recording));

/** Until the last response or the load event. */
const endOf = ({ requests, pltMs }: Recording) => Math.max(pltMs ?? 0, ...requests.map(({ endMs }) => endMs));

function joinLoads(earlier: Recording, later: Recording, { earlierOf }: MatchedRequests): RequestRow[] {
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
