import type { HelperCheck } from '@hopwise/contract';
import { HelperError } from '../helper/helper-port.ts';
import { examineHelper } from '../helper/native-client.ts';
import { builder } from '../ui/dom.ts';
import { formatCount } from '../ui/format.ts';
import { renderSection, renderStatus } from './section.ts';

const EXPLANATION =
  'Verifications and pins need the helper. This starts it and has it check everything that it needs; nothing is sent over the network.';

/** A button that has the helper check itself, and shows a fix for what fails. */
export function renderHelperDoctor(examine: () => Promise<HelperCheck[]> = examineHelper): HTMLElement {
  const el = builder();
  const status = renderStatus();
  const list = el('ul', { class: 'hw-acts' });
  const button = el('button', { type: 'button', class: 'hw-button' }, 'Check the helper');
  list.hidden = true;
  button.addEventListener('click', async () => {
    button.setAttribute('aria-disabled', 'true');
    status.textContent = 'Checking …';
    list.hidden = true;
    try {
      const checks = await examine();
      list.replaceChildren(...checks.map(renderCheck));
      list.hidden = false;
      const failed = checks.filter(({ ok }) => !ok).length;
      status.textContent = failed === 0 ? 'Everything works.' : `${formatCount(failed, 'check')} failed.`;
    } catch (error) {
      status.replaceChildren(...explain(error as Error));
    }
    button.removeAttribute('aria-disabled');
  });
  return renderSection('The helper', el('p', {}, EXPLANATION), el('div', {}, button), status, list);
}

function explain(error: Error): (Node | string)[] {
  const code = error instanceof HelperError ? error.code : '';
  if (code === 'bad-message') return ['The installed helper is too old to check itself. Update it.'];
  if (code !== 'no-helper') return [error.message];
  const link = builder()('a', { href: 'welcome.html' }, 'First steps');
  return ['The helper is not installed. ', link, ' say how to install it.'];
}

function renderCheck({ name, ok, detail, fix }: HelperCheck): HTMLElement {
  const el = builder();
  return el(
    'li',
    { 'data-state': ok ? 'kept' : 'failed' },
    el('p', {}, el('strong', {}, `${name}: `), `${ok ? '' : 'failed: '}${detail}`),
    fix === '' ? null : el('p', {}, `${ok ? 'Possible' : 'Fix'}: `, el('code', {}, fix)),
  );
}
