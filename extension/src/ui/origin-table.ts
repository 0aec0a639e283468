import { PROTOCOL_NAME } from '@hopwise/contract';
import type { OriginRecommendation, Prediction } from '@hopwise/pageload-emulator';
import { type Build, builder, type ViewOptions } from './dom.ts';
import { formatBytes, formatOrigin, formatShare } from './format.ts';

export interface OriginTableOptions extends ViewOptions {
  /** Show only this many origins, those with most bytes first; all when not given. */
  limit?: number | undefined;
  /** Leave out requests, bytes and reasons. */
  brief?: boolean | undefined;
  /** Controls shown below an origin's name; null for none. */
  action?: ((origin: OriginRecommendation) => HTMLElement | null) | undefined;
}

/** Columns that narrow windows hide. */
const WIDE_ONLY = ['Requests', 'Bytes'];

/** The recommended protocol of each origin, and the reason; most bytes first. */
export function renderOriginTable(prediction: Prediction, options: OriginTableOptions = {}): HTMLElement {
  const el = builder(options);
  const sorted = prediction.origins.toSorted((a, b) => b.bytes - a.bytes);
  const shown = sorted.slice(0, options.limit ?? sorted.length);
  const brief = options.brief ?? false;
  const rows = shown.map((origin) => ({ origin, action: options.action?.(origin) ?? null }));
  const head = brief ? ['Origin', 'Best', 'Sure'] : ['Origin', ...WIDE_ONLY, 'Best', 'Sure', 'Why'];
  const rest = sorted.length - shown.length;
  return el(
    'div',
    { class: 'hw-scroll' },
    el(
      'table',
      { class: `hw-table hw-origins${brief ? '' : ' hw-origins-detailed'}` },
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          ...head.map((text) =>
            el('th', { scope: 'col', ...(WIDE_ONLY.includes(text) ? { class: 'hw-wide-only' } : {}) }, text),
          ),
        ),
      ),
      el('tbody', {}, ...rows.map(({ origin, action }) => row(el, origin, { brief, action }))),
    ),
    rest > 0 ? el('p', { class: 'hw-note' }, `and ${rest} more`) : null,
  );
}

function row(
  el: Build,
  origin: OriginRecommendation,
  { brief, action }: { brief: boolean; action: HTMLElement | null },
): HTMLElement {
  const best = origin.decided
    ? el('span', { class: `hw-badge hw-badge-${origin.protocol}` }, PROTOCOL_NAME[origin.protocol])
    : el('span', { class: 'hw-badge' }, 'no clear winner');
  const name = el('th', { scope: 'row', title: origin.origin }, formatOrigin(origin.origin), action);
  const sure = el('td', { class: 'hw-number' }, origin.decided ? formatShare(origin.confidence) : '–');
  if (brief) return el('tr', {}, name, el('td', {}, best), sure);
  return el(
    'tr',
    {},
    name,
    el('td', { class: 'hw-number hw-wide-only' }, String(origin.requests)),
    el('td', { class: 'hw-number hw-wide-only' }, formatBytes(origin.bytes)),
    el('td', {}, best),
    sure,
    el('td', { class: 'hw-reason' }, origin.reason),
  );
}
