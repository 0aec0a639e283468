import { type Comparison, figuresOf } from './comparison.ts';
import { builder, type ViewOptions } from './dom.ts';
import { PROTOCOL_NAME } from './format.ts';

/** Why times are missing, a line for each. */
export function renderGaps(comparison: Comparison, options: ViewOptions = {}): HTMLElement[] {
  const el = builder(options);
  return figuresOf(comparison).gaps.map(({ protocol, kind, reason }) =>
    el('p', { class: 'hw-note' }, `${PROTOCOL_NAME[protocol]}, ${kind}: ${reason}`),
  );
}
