import type { OriginRecommendation, Prediction } from '@hopwise/pageload-emulator';
import { t } from '../language/translate.ts';
import { type Build, builder, type ViewOptions } from './dom.ts';
import { formatOrigin, keepUnitsTogether } from './format.ts';
import { adviseOrigins, type OriginAdvice } from './origin-advice.ts';

export interface OriginTableOptions extends ViewOptions {
  /** Show at most this many origins that matter, those with the most bytes first; all when not given. */
  limit?: number | undefined;
  /** Whether pins do enough, or are to be undone first: nothing is then to be done at an origin. */
  isSettled?: boolean | undefined;
  /** Leave out the gain, which is the page's, and the reasons. */
  brief?: boolean | undefined;
  /** Controls shown below an origin's name; null for none. */
  action?: ((origin: OriginRecommendation) => HTMLElement | null) | undefined;
}

/** What to do about each origin that matters, and what it gains; the others in one line that opens. */
export function renderOriginTable(prediction: Prediction, options: OriginTableOptions = {}): HTMLElement {
  const el = builder(options);
  const { advised, rest } = adviseOrigins(prediction);
  const brief = options.brief ?? false;
  const all = prediction.origins.length;
  const shown = advised.slice(0, options.limit ?? advised.length);
  const more = advised.length - shown.length;
  return el(
    'div',
    { class: 'hw-scroll' },
    shown.length > 0 ? renderAdvised(el, shown, { ...options, brief }) : null,
    more > 0 ? el('p', { class: 'hw-note' }, t('originsMore', { count: more })) : null,
    rest.length > 0 ? renderRest(el, rest, all) : null,
  );
}

function renderAdvised(
  el: Build,
  advised: readonly OriginAdvice[],
  { brief, isSettled, action }: Pick<OriginTableOptions, 'brief' | 'isSettled' | 'action'>,
): HTMLElement {
  const head = [t('columnOrigin'), t('columnAdvice'), ...(brief ? [] : [t('columnGain'), t('columnWhy')])];
  return el(
    'table',
    { class: `hw-table hw-origins${brief ? '' : ' hw-origins-detailed'}` },
    el('thead', {}, el('tr', {}, ...head.map((text) => el('th', { scope: 'col' }, text)))),
    el(
      'tbody',
      {},
      ...advised.map(({ origin, instruction, gain, reason }) =>
        el(
          'tr',
          {},
          el('th', { scope: 'row', title: origin.origin }, formatOrigin(origin.origin), action?.(origin)),
          el('td', {}, isSettled ? '–' : instruction),
          brief ? null : el('td', { class: 'hw-number' }, keepUnitsTogether(gain || '–')),
          brief ? null : el('td', { class: 'hw-reason' }, keepUnitsTogether(reason)),
        ),
      ),
    ),
  );
}

/** At how many of all origins nothing is worth changing: a protocol may be faster there, by too little for the page. */
export function describeRest(rest: number, all: number): string {
  if (all === 1) return t('originsOnlyRest');
  return rest === all ? t('originsNone', { all }) : t('originsRest', { rest, all });
}

function renderRest(el: Build, rest: readonly OriginRecommendation[], all: number): HTMLElement {
  return el(
    'details',
    { class: 'hw-rest' },
    el('summary', {}, describeRest(rest.length, all)),
    el(
      'ul',
      {},
      ...rest.map(({ origin, reason }) =>
        el('li', {}, el('span', { title: origin }, formatOrigin(origin)), ` ${keepUnitsTogether(reason)}`),
      ),
    ),
  );
}
