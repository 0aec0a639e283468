import { t } from '../../language/translate.ts';
import { builder } from '../../ui/dom.ts';
import { type ListedRows, RowList } from './row-list.ts';
import type { TimeRange } from './rows.ts';
import { TimeAxis } from './time-axis.ts';

const el = builder();

/** Zoom of one turn of the wheel or one press of a button. */
export const ZOOM = 1.5;

interface FramedRows extends Omit<ListedRows, 'range'> {
  /** End of what can be shown, milliseconds. */
  endMs: number;
}

/** A waterfall's frame: the column heads with the time axis, the rows below it in the axis's scale, and zooming by the wheel. */
export class WaterfallFrame {
  readonly element: HTMLElement;
  readonly axis = new TimeAxis((range) => this.#showRange(range));
  readonly #list: RowList;
  readonly #resize = new ResizeObserver(() => this.#drawAxis());
  #rows: FramedRows | null = null;
  #range: TimeRange = { fromMs: 0, toMs: 1 };

  /** @param onSelect called with the number of a request */
  constructor(onSelect: (requestId: number) => void) {
    this.#list = new RowList(onSelect);
    this.element = el(
      'div',
      { class: 'hw-waterfall-body' },
      el(
        'div',
        { class: 'hw-row hw-row-head', 'aria-hidden': 'true' },
        el('div', {}, t('columnRequest')),
        el('div', { class: 'hw-row-size' }, t('columnSize')),
        el('div', { class: 'hw-row-time' }, t('columnTime')),
        this.axis.element,
      ),
      this.#list.element,
    );
    this.element.addEventListener('wheel', (event) => this.#onWheel(event), { passive: false });
    this.#resize.observe(this.axis.element);
  }

  /** @param range the visible time; the one before if not given */
  show(rows: FramedRows, range: TimeRange = this.#range): void {
    this.#rows = rows;
    this.#showRange(range);
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
    if (this.#rows) this.axis.show(this.#range, this.#rows.endMs, this.#rows.pltMs);
  }

  #onWheel(event: WheelEvent): void {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const { left, width } = this.axis.element.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - left) / width));
    this.axis.zoomBy(event.deltaY > 0 ? ZOOM : 1 / ZOOM, share);
  }
}
