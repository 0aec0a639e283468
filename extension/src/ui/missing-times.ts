import { t } from '../language/translate.ts';
import { collectFigures, nameKind, nameRow, type TimesComparison } from './comparison.ts';
import { builder, type ViewOptions } from './dom.ts';

/** One line for each missing time, with the reason. */
export function renderMissingTimes(comparison: TimesComparison, options: ViewOptions = {}): HTMLElement[] {
  const el = builder(options);
  return collectFigures(comparison).missingTimes.map(({ row, kind, reason }) =>
    el(
      'p',
      { class: 'hw-note' },
      t('timeReason', { row: nameRow(row, comparison), kind: nameKind(kind), reason }),
    ),
  );
}
