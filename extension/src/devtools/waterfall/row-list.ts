import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core';
import { t } from '../../language/translate.ts';
import { builder } from '../../ui/dom.ts';
import { formatUrl } from '../../ui/format.ts';
import type { Milestone } from '../../ui/milestones.ts';
import { describeRow, type WaterfallBar } from '../../ui/waterfall.ts';
import { COLUMNS } from './columns.ts';
import { renderLaterMark } from './later-mark.ts';
import { renderLines } from './milestone-lines.ts';
import { placeBar, type RequestRow, type TimeRange } from './rows.ts';

const el = builder();

/** The heights in panel.css. */
const ROW_HEIGHT = 22;
const HEAD_HEIGHT = 36;
const OVERSCAN = 12;
const MAX_NAME_LENGTH = 60;
/** Approximate width of a character of a name, CSS pixels. */
const CHARACTER_WIDTH = 7.4;

export interface ListedRows {
  rows: readonly RequestRow[];
  range: TimeRange;
  pageUrl: string;
  milestones: readonly Milestone[];
  /** Those of the compared load; empty without one. */
  comparedMilestones: readonly Milestone[];
  selected: number | null;
}

/**
 * Rows of a waterfall, of which only those in sight are elements, so that thousands scroll smoothly. Arrow keys move the focus
 * from row to row; Enter opens a row's details. Tab stops at one row only, so that it soon reaches what follows the list.
 */
export class RowList {
  readonly element: HTMLElement;
  readonly #sizer = el('div', { class: 'hw-rows-sizer', role: 'rowgroup' });
  readonly #onSelect: (requestId: number) => void;
  readonly #head: HTMLElement;
  readonly #virtualizer: Virtualizer<HTMLElement, HTMLElement>;
  readonly #unmount: () => void;
  #listed: ListedRows = {
    rows: [],
    range: { fromMs: 0, toMs: 1 },
    pageUrl: '',
    milestones: [],
    comparedMilestones: [],
    selected: null,
  };
  /** The row that last had the focus. */
  #current = 0;

  /**
   * @param head row that stays above the others
   * @param onSelect called with the number of a request
   */
  constructor(head: HTMLElement, onSelect: (requestId: number) => void) {
    this.#onSelect = onSelect;
    this.#head = head;
    this.element = el(
      'div',
      { class: 'hw-rows', role: 'table', 'aria-label': t('rowsLabel') },
      head,
      this.#sizer,
    );
    this.element.addEventListener('keydown', (event) => this.#onKey(event));
    this.element.addEventListener('focusin', (event) => this.#onFocus(event));
    this.#virtualizer = new Virtualizer<HTMLElement, HTMLElement>(this.#options());
    this.#unmount = this.#virtualizer._didMount();
  }

  /** Stops observing the element, which has left the page. */
  close(): void {
    this.#unmount();
  }

  show(listed: ListedRows): void {
    this.#listed = listed;
    this.element.setAttribute('aria-rowcount', String(listed.rows.length));
    this.#virtualizer.setOptions(this.#options());
    this.#virtualizer._willUpdate();
    this.#draw();
  }

  /** Scrolls to a request and focuses it. */
  focus(requestId: number): void {
    const index = this.#listed.rows.findIndex(({ request }) => request.id === requestId);
    if (index >= 0) this.#focusIndex(index);
  }

  #options(): VirtualizerOptions<HTMLElement, HTMLElement> {
    return {
      count: this.#listed.rows.length,
      getScrollElement: () => this.element,
      estimateSize: () => ROW_HEIGHT,
      overscan: OVERSCAN,
      // The head covers as much.
      scrollPaddingEnd: HEAD_HEIGHT,
      scrollToFn: elementScroll,
      observeElementRect,
      observeElementOffset,
      onChange: () => this.#draw(),
    };
  }

  #draw(): void {
    const focused = (document.activeElement as HTMLElement | null)?.dataset.index;
    const items = this.#virtualizer.getVirtualItems();
    // Before anything is drawn: the browser lays out the page to tell a width.
    const nameLength = this.#nameLength();
    this.#sizer.style.height = `${this.#virtualizer.getTotalSize()}px`;
    this.#sizer.replaceChildren(
      ...items.map(({ index, start }) => this.#renderRow(index, start, nameLength)),
    );
    const isDrawn = items.some(({ index }) => index === this.#current);
    this.#setTabStop(isDrawn ? this.#current : (this.#virtualizer.range?.startIndex ?? 0));
    if (focused !== undefined) this.#buttonAt(Number(focused))?.focus({ preventScroll: true });
  }

  #renderRow(index: number, top: number, nameLength: number): HTMLElement {
    const { pageUrl, range, selected, milestones, comparedMilestones } = this.#listed;
    const row = this.#listed.rows[index]!;
    const { request, main, compared, critical } = row;
    const button = el(
      'button',
      {
        type: 'button',
        class: 'hw-row-name',
        'data-index': String(index),
        tabindex: '-1',
        title: describeRow(main),
      },
      formatUrl(request.url, pageUrl, nameLength),
    );
    const bars = el(
      'div',
      { class: `hw-row-bars${compared ? ' hw-two' : ''}`, role: 'cell' },
      ...main.bars.map((bar) => this.#renderBar(bar, main.protocol ?? 'unknown', '')),
      ...(compared?.bars ?? []).map((bar) =>
        this.#renderBar(bar, compared!.protocol ?? 'unknown', ' hw-compared'),
      ),
    );
    bars.append(...renderLines(milestones, range), ...renderLines(comparedMilestones, range, true));
    if (Math.max(main.endMs, compared?.endMs ?? 0) > range.toMs) bars.append(renderLaterMark());
    const element = el(
      'div',
      {
        class: `hw-row${critical ? ' hw-critical' : ''}${request.id === selected ? ' hw-selected' : ''}`,
        role: 'row',
        'aria-rowindex': String(index + 1),
      },
      el('div', { class: 'hw-row-label', role: 'rowheader' }, button),
      ...COLUMNS.map(({ key, write }) =>
        el('div', { class: `hw-cell hw-cell-${key}`, role: 'cell' }, write(row)),
      ),
      bars,
    );
    // Enter and Space on the name's button click too.
    element.addEventListener('click', () => this.#onSelect(request.id));
    element.style.transform = `translateY(${top}px)`;
    return element;
  }

  /** How many characters of a name the column has room for: whole names are in the title and in the details. */
  #nameLength(): number {
    const width = this.#head.querySelector('.hw-cell-name')?.clientWidth ?? 0;
    return width === 0 ? MAX_NAME_LENGTH : Math.min(MAX_NAME_LENGTH, Math.floor(width / CHARACTER_WIDTH));
  }

  #renderBar(bar: WaterfallBar, protocol: string, className: string): HTMLElement | null {
    const place = placeBar(bar, this.#listed.range);
    if (!place) return null;
    const element = el('div', { class: `hw-phase hw-phase-${bar.phase} hw-of-${protocol}${className}` });
    element.style.left = `${place.left}%`;
    element.style.width = `${place.width}%`;
    return element;
  }

  #onKey(event: KeyboardEvent): void {
    const { index } = (event.target as HTMLElement).dataset;
    if (index === undefined) return;
    const last = this.#listed.rows.length - 1;
    const targets: Record<string, number> = {
      ArrowDown: Math.min(last, Number(index) + 1),
      ArrowUp: Math.max(0, Number(index) - 1),
      Home: 0,
      End: last,
    };
    const target = targets[event.key];
    if (target === undefined) return;
    event.preventDefault();
    this.#focusIndex(target);
  }

  #onFocus({ target }: FocusEvent): void {
    const { index } = (target as HTMLElement).dataset;
    if (index === undefined) return;
    this.#current = Number(index);
    this.#setTabStop(this.#current);
  }

  #setTabStop(index: number): void {
    for (const button of this.#sizer.querySelectorAll<HTMLElement>('[data-index]')) {
      button.tabIndex = button.dataset.index === String(index) ? 0 : -1;
    }
  }

  #focusIndex(index: number): void {
    this.#virtualizer.scrollToIndex(index);
    this.#virtualizer._willUpdate();
    requestAnimationFrame(() => {
      this.#draw();
      this.#buttonAt(index)?.focus({ preventScroll: true });
    });
  }

  #buttonAt(index: number): HTMLElement | null {
    return this.#sizer.querySelector<HTMLElement>(`[data-index="${index}"]`);
  }
}
