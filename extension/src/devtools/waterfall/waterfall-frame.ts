import { type PlainKey, t } from '../../language/translate.ts';
import { renderButton } from '../../ui/controls.ts';
import { builder } from '../../ui/dom.ts';
import { COLUMNS } from './columns.ts';
import { type ListedRows, RowList } from './row-list.ts';
import type { Sorting, SortKey, TimeRange } from './rows.ts';
import { TimeAxis } from './time-axis.ts';

const el = builder();

/** Zoom of one turn of the wheel or one press of a button. */
export const ZOOM = 1.5;

/** Keys whose usual order begins with the largest. */
const FALLING: readonly SortKey[] = ['size', 'duration'];

interface FramedRows extends Omit<ListedRows, 'range'> {
  /** End of what can be shown, milliseconds. */
  endMs: number;
}

/** A waterfall's frame: the column heads with the time axis, the rows below it in the axis's scale, and zooming by the wheel. */
export class WaterfallFrame {
  readonly element: HTMLElement;
  readonly axis = new TimeAxis((range) => this.#showRange(range));
  readonly #list: RowList;
  readonly #heads = new Map<SortKey, HTMLElement>();
  readonly #resize = new ResizeObserver(() => this.#drawAxis());
  #rows: FramedRows | null = null;
  #range: TimeRange = { fromMs: 0, toMs: 1 };

  /**
   * @param onSelect called with the number of a request
   * @param onSort called with the column whose head was clicked; without it the heads are no buttons
   */
  constructor(onSelect: (requestId: number) => void, onSort: ((key: SortKey) => void) | null = null) {
    const heads: [key: SortKey, label: PlainKey][] = [
      ['name', 'columnRequest'],
      ...COLUMNS.map(({ key, label }): [SortKey, PlainKey] => [key, label]),
    ];
    for (const [key, label] of heads) this.#heads.set(key, renderHead(key, t(label), onSort));
    const head = el(
      'div',
      { class: 'hw-row-head', role: 'row' },
      ...this.#heads.values(),
      el('div', { role: 'columnheader', 'aria-label': t('columnWaterfall') }, this.axis.element),
    );
    this.#list = new RowList(el('div', { class: 'hw-rows-head', role: 'rowgroup' }, head), onSelect);
    this.element = this.#list.element;
    this.element.addEventListener('wheel', (event) => this.#onWheel(event), { passive: false });
    this.#resize.observe(this.axis.element);
  }

  /** @param range the visible time; the one before if not given */
  show(rows: FramedRows, range: TimeRange = this.#range): void {
    this.#rows = rows;
    this.#showRange(range);
  }

  /** Marks the column by which the rows are sorted. */
  markSorting({ key, isReversed }: Sorting): void {
    for (const [each, head] of this.#heads) {
      const order = isReversed !== FALLING.includes(each) ? 'descending' : 'ascending';
      head.setAttribute('aria-sort', each === key ? order : 'none');
    }
  }

  /** Scrolls to a request and focuses it. */
  focus(requestId: number): void {
    this.#list.focus(requestId);
  }

  close(): void {
    this.#resize.disconnect();
    this.#list.close();
  }

  #showRange(range: TimeRange): void {
    this.#range = range;
    this.#drawAxis();
    if (this.#rows) this.#list.show({ ...this.#rows, range });
  }

  #drawAxis(): void {
    if (this.#rows) this.axis.show(this.#range, this.#rows.endMs, this.#rows.milestones);
  }

  #onWheel(event: WheelEvent): void {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const { left, width } = this.axis.element.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - left) / width));
    this.axis.zoomBy(event.deltaY > 0 ? ZOOM : 1 / ZOOM, share);
  }
}

function renderHead(key: SortKey, label: string, onSort: ((key: SortKey) => void) | null): HTMLElement {
  const attributes: Record<string, string> = { class: 'hw-head-label' };
  if (key === 'priority') attributes.title = t('columnPriorityHint');
  const text = onSort ? renderButton(label, () => onSort(key), attributes) : el('span', attributes, label);
  return el('div', { class: `hw-cell hw-cell-${key}`, role: 'columnheader' }, text);
}
