import { t } from '../language/translate.ts';
import { type PinRequest, type PinsAnswer, sendPinRequest } from '../pins/pin-messages.ts';
import { renderCardOfGroup } from '../ui/card.ts';
import { renderButton, renderStatus } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';

/** Lists the local origins that may be pinned, each with a button that removes it and its pin. */
export async function renderLocalOrigins(): Promise<HTMLElement> {
  const el = builder();
  const list = el('div', {});
  const status = renderStatus();

  const show = ({ localOrigins }: PinsAnswer): void => {
    const items = localOrigins.map((origin) => {
      const label = t('excludedRemove', { site: origin });
      const remove = () => update({ type: 'disallow-local', origin });
      const button = renderButton(t('remove'), remove, { class: 'hw-link', 'aria-label': label });
      return el('li', {}, origin, ' ', button);
    });
    list.replaceChildren(
      items.length === 0 ? el('p', { class: 'hw-note' }, t('localNone')) : el('ul', {}, ...items),
    );
  };
  const update = async (request: Extract<PinRequest, { type: 'pins' | 'disallow-local' }>): Promise<void> => {
    const answer = await sendPinRequest(request);
    status.textContent = answer.ok ? '' : answer.error;
    if (answer.ok) show(answer);
  };

  await update({ type: 'pins' });
  return renderCardOfGroup(t('localTitle'), list, status);
}
