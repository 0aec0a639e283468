import { ticks } from 'd3-array';
import { builder } from '../../ui/dom.ts';
import { createTickFormat } from '../../ui/format.ts';
import type { Milestone } from '../../ui/milestones.ts';
import { labelMilestones, type MilestoneLabel, renderLines } from './milestone-lines.ts';
import { placeBar, type TimeRange, zoom } from './rows.ts';

const el = builder();

/** Pixels between two ticks, about. */
const TICK_SPACING = 90;
/** A drag of fewer pixels is a click. */
const MIN_DRAG = 4;

/** The time axis above the rows: ticks, milestones with their names, and zooming by dragging over it. */
export class TimeAxis {
  readonly element = el('div', { class: 'hw-axis-row' });
  readonly #onRange: (range: TimeRange) => void;
  #range: TimeRange = { fromMs: 0, toMs: 1 };
  #endMs = 1;

  constructor(onRange: (range: TimeRange) => void) {
    this.#onRange = onRange;
    this.element.addEventListener('pointerdown', (event) => this.#drag(event));
  }

  get range(): TimeRange {
    return this.#range;
  }

  /** Shows a range of a load that ends at `endMs`. */
  show(range: TimeRange, endMs: number, milestones: readonly Milestone[]): void {
    this.#range = range;
    this.#endMs = endMs;
    const width = this.element.clientWidth;
    const count = Math.max(2, Math.floor(width / TICK_SPACING));
    this.element.replaceChildren(
      ...renderTicks(range, count, width),
      ...renderLines(milestones, range),
      ...labelMilestones(milestones, range, width).map(renderLabel),
    );
  }

  /** Zooms by a factor around a share of the visible width. */
  zoomBy(factor: number, share = 0.5): void {
    const { fromMs, toMs } = this.#range;
    this.#onRange(zoom(this.#range, factor, fromMs + share * (toMs - fromMs), this.#endMs));
  }

  /** Moves by a share of the visible range. */
  moveBy(share: number): void {
    const { fromMs, toMs } = this.#range;
    const length = toMs - fromMs;
    const from = Math.min(this.#endMs - length, Math.max(0, fromMs + share * length));
    this.#onRange({ fromMs: from, toMs: from + length });
  }

  showAll(): void {
    this.#onRange({ fromMs: 0, toMs: this.#endMs });
  }

  #drag(down: PointerEvent): void {
    const { left, width } = this.element.getBoundingClientRect();
    const shareAt = ({ clientX }: PointerEvent) => Math.min(1, Math.max(0, (clientX - left) / width));
    const selection = el('div', { class: 'hw-selection' });
    this.element.append(selection);
    this.element.setPointerCapture(down.pointerId);
    const begin = shareAt(down);
    const move = (event: PointerEvent) => {
      const share = shareAt(event);
      selection.style.left = `${100 * Math.min(begin, share)}%`;
      selection.style.width = `${100 * Math.abs(share - begin)}%`;
    };
    const end = (event: PointerEvent) => {
      this.element.removeEventListener('pointermove', move);
      selection.remove();
      const share = shareAt(event);
      if (event.type === 'pointercancel' || Math.abs(share - begin) * width < MIN_DRAG) return;
      const { fromMs, toMs } = this.#range;
      const [low, high] = [Math.min(begin, share), Math.max(begin, share)].map(
        (each) => fromMs + each * (toMs - fromMs),
      );
      this.#onRange({ fromMs: low!, toMs: Math.max(low! + 1, high!) });
    };
    this.element.addEventListener('pointermove', move);
    this.element.addEventListener('pointerup', end, { once: true });
    this.element.addEventListener('pointercancel', end, { once: true });
  }
}

/** About as wide as a tick's label is at most, CSS pixels. */
const LABEL_WIDTH = 48;

/**
 * Ticks of a time axis, in one unit. One whose label would be cut by the end of the axis has none.
 *
 * @param count about how many
 * @param width of the axis, CSS pixels
 */
export function renderTicks(range: TimeRange, count: number, width: number): HTMLElement[] {
  const format = createTickFormat(range.toMs);
  const lastMs = range.toMs - (LABEL_WIDTH / Math.max(width, LABEL_WIDTH)) * (range.toMs - range.fromMs);
  return ticks(range.fromMs, range.toMs, count).map((ms) =>
    renderMark(ms, range, 'hw-tick', ms > lastMs ? '' : format(ms)),
  );
}

function renderLabel({ text, leftPx }: MilestoneLabel): HTMLElement {
  const label = el('span', { class: 'hw-line-label', 'aria-hidden': 'true' }, text);
  label.style.left = `${leftPx}px`;
  return label;
}

/** A mark at a time, hidden when that is out of sight. */
function renderMark(ms: number, range: TimeRange, className: string, text = ''): HTMLElement {
  const place = placeBar({ startMs: ms, endMs: ms }, range);
  const mark = el('span', { class: className }, text);
  mark.hidden = place === null;
  mark.style.left = `${place?.left ?? 0}%`;
  return mark;
}
