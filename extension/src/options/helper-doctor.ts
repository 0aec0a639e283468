import type { HelperCheck } from '@hopwise/contract';
import { examineHelper } from '../helper/ask-helper.ts';
import { HelperError } from '../helper/helper-port.ts';
import { plural, t } from '../language/translate.ts';
import { renderCardOfGroup, renderExplanation } from '../ui/card.ts';
import { renderButton, renderStatus } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';
import { INSTALL_PAGE } from '../ui/install-helper.ts';

/** A button that has the helper check itself, and shows a fix for what fails. */
export function renderHelperDoctor(examine: () => Promise<HelperCheck[]> = examineHelper): HTMLElement {
  const el = builder();
  const status = renderStatus();
  const list = el('ul', { class: 'hw-entries' });
  list.hidden = true;
  const button = renderButton(t('doctorCheck'), async () => {
    button.setAttribute('aria-disabled', 'true');
    status.textContent = t('doctorChecking');
    list.hidden = true;
    try {
      const checks = await examine();
      list.replaceChildren(...checks.map(renderCheck));
      list.hidden = false;
      const failed = checks.filter(({ ok }) => !ok).length;
      status.textContent = failed === 0 ? t('doctorFine') : plural('doctorFailed', failed);
    } catch (error) {
      status.replaceChildren(...explain(error as Error));
    }
    button.removeAttribute('aria-disabled');
  });
  return renderCardOfGroup(
    t('doctorTitle'),
    el('div', {}, button),
    status,
    list,
    renderExplanation(t('doctorTitle'), t('doctorExplanation')),
  );
}

function explain(error: Error): (Node | string)[] {
  const code = error instanceof HelperError ? error.code : '';
  if (code === 'bad-message') return [t('doctorTooOld')];
  if (code !== 'no-helper') return [error.message];
  const link = builder()('a', { href: INSTALL_PAGE }, t('doctorHowToInstall'));
  return [t('helperMissing'), ' ', link];
}

function renderCheck({ name, ok, detail, fix }: HelperCheck): HTMLElement {
  const el = builder();
  return el(
    'li',
    { 'data-state': ok ? 'kept' : 'failed' },
    el('p', {}, el('strong', {}, `${name}: `), ok ? detail : t('doctorItemFailed', { detail })),
    fix === '' ? null : el('p', {}, ok ? t('doctorPossible') : t('doctorFix'), ' ', el('code', {}, fix)),
  );
}
