import { type Comparison, figuresOf, ROW_NAME } from './comparison.ts';
import { builder, type ViewOptions } from './dom.ts';

/** Why times are missing, a line for each. */
export function renderGaps(comparison: Comparison, options: ViewOptions = {}): HTMLElement[] {
  const el = builder(options);
  return figuresOf(comparison).gaps.map(({ row, kind, reason }) =>
    el('p', { class: 'hw-note' }, `${ROW_NAME[row]}, ${kind}: ${reason}`),
  );
}
