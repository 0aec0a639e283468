import { t } from '../language/translate.ts';
import { builder } from '../ui/dom.ts';
import { renderEditableList, renderSiteField } from './editable-list.ts';
import { normalizeSite } from './normalize-site.ts';
import type { SettingsClient } from './settings-client.ts';

/** The list of excluded sites, with a field to add one. */
export function renderExcludedSites(settings: SettingsClient): HTMLElement {
  const field = renderSiteField();
  return renderEditableList<string>({
    title: t('excludedTitle'),
    explanation: t('excludedExplanation'),
    fields: [builder()('label', { class: 'hw-row' }, t('site'), field)],
    add: t('excludedAdd'),
    items: () => settings.current.excludedSites,
    read: () => normalizeSite(field.value),
    isSame: (a, b) => a === b,
    compare: (a, b) => (a < b ? -1 : 1),
    describe: (site) => ({
      entry: site,
      remove: t('excludedRemove', { site }),
      removed: t('excludedRemoved', { site }),
      added: t('excludedAdded', { site }),
    }),
    save: async (excludedSites, done) => `${done} ${await settings.change({ excludedSites })}`.trim(),
  });
}
