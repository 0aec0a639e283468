import { type Action, type ActionNeed, type Decision, PROTOCOL_NAME } from '@hopwise/contract';
import { plural, t } from '../../language/translate.ts';
import { builder } from '../../ui/dom.ts';
import { createDurationFormat, formatOrigin, formatShare, keepUnitsTogether } from '../../ui/format.ts';

const el = builder();

/** What could be done about the page's protocols, beside what the browser does by itself; null where nothing could. */
export function renderActions({ baseline, actions }: Decision): HTMLElement | null {
  const others = actions.filter(({ kind }) => kind !== 'leave');
  if (others.length === 0) return null;
  const write = createDurationFormat(
    Math.max(...[baseline, ...others.map(({ time }) => time)].map(({ pltMs }) => pltMs)),
  );
  // A gain is that on the visit on which it is less. Measured loads are of the visits that count.
  const isOfLater =
    !baseline.measured &&
    write(baseline.laterPltMs) !== write(baseline.pltMs) &&
    baseline.laterPltMs < baseline.pltMs;
  const columns = [
    [t('columnAction'), 'name'],
    [t('columnLoadTime'), 'time'],
    [t('weighedChange'), 'change'],
    [t('weighedFaster'), 'chance'],
    [t('weighedSlower'), 'chance'],
    [t('weighedNeeds'), 'needs'],
  ] as const;
  const row = (kind: string, [name = '', ...cells]: readonly string[]) =>
    el(
      'tr',
      { 'data-action': kind },
      el('th', { scope: 'row' }, name),
      ...cells.map((text, index) =>
        el('td', { class: `hw-weighed-${columns[index + 1]![1]}` }, keepUnitsTogether(text)),
      ),
    );
  return el(
    'div',
    { class: 'hw-weighed' },
    el(
      'table',
      { class: 'hw-table' },
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          ...columns.map(([title, name]) => el('th', { scope: 'col', class: `hw-weighed-${name}` }, title)),
        ),
      ),
      el(
        'tbody',
        {},
        row('leave', [t('rowBaseline'), write(baseline.pltMs), '', '', '', '']),
        isOfLater ? row('leave', [t('rowLater'), write(baseline.laterPltMs), '', '', '', '']) : null,
        ...others.map((action) =>
          row(action.kind, [
            nameAction(action),
            write(action.time.pltMs),
            formatChange(-action.gain),
            formatShare(action.helps),
            formatShare(action.harms),
            action.needs.map((need) => NEED[need]()).join(', '),
          ]),
        ),
      ),
    ),
    el('p', { class: 'hw-note' }, [...(isOfLater ? [t('weighedLater')] : []), t('weighedNote')].join(' ')),
  );
}

/** A smaller change is none. */
const MIN_CHANGE = 0.005;

const NEED: Record<ActionNeed, () => string> = {
  helper: () => t('needHelper'),
  ca: () => t('needCa'),
  server: () => t('needServer'),
};

function nameAction({ kind, origins, protocol }: Action): string {
  const { length } = origins;
  const host = formatOrigin(origins[0] ?? '');
  switch (kind) {
    case 'leave':
      return t('rowBaseline');
    case 'avoid-h3':
      return plural('weighedAvoid', length, { host });
    case 'offer-h3':
      return plural('weighedOffer', length, { host });
    case 'withdraw-h3':
      return plural('weighedWithdraw', length, { host });
    case 'force-protocol':
      return protocol === null
        ? plural('weighedMix', length, { host })
        : plural('weighedHold', length, { host, protocol: PROTOCOL_NAME[protocol] });
  }
}

/** `+2%`, `−12%`, `0%`. */
function formatChange(share: number): string {
  if (Math.abs(share) < MIN_CHANGE) return formatShare(0);
  return `${share < 0 ? '−' : '+'}${formatShare(Math.abs(share))}`;
}
