import { plural, t } from '../language/translate.ts';
import { type Erased, type StoredData, sendMemoryRequest } from '../messages/memory-messages.ts';
import { renderCardOfGroup, renderExplanation } from '../ui/card.ts';
import { renderButton, renderFigures, renderStatus } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';
import { formatBytes, formatList, formatTime } from '../ui/format.ts';

/** States how much is stored, with a button that erases all of it. */
export class StoredDataSection {
  readonly element: HTMLElement;
  readonly #figures: HTMLElement;
  readonly #status = renderStatus();
  readonly #dialog: HTMLDialogElement;

  constructor() {
    const el = builder();
    this.#figures = el('dl', { class: 'hw-figures' });
    this.#dialog = this.#renderDialog();
    this.element = renderCardOfGroup(
      t('storedTitle'),
      this.#figures,
      el(
        'div',
        {},
        renderButton(t('storedErase'), () => this.#dialog.showModal()),
      ),
      this.#status,
      renderExplanation(t('storedTitle'), t('storedContents'), t('storedHelper')),
      this.#dialog,
    );
    void this.refresh();
  }

  async refresh(): Promise<void> {
    const answer = await sendMemoryRequest({ type: 'stored-data' });
    if (answer.ok) this.#figures.replaceChildren(...renderFigures(listFigures(answer.stored)));
    else this.#status.textContent = answer.error;
  }

  #renderDialog(): HTMLDialogElement {
    const el = builder();
    const confirm = el(
      'button',
      { class: 'hw-button hw-button-primary', value: 'erase' },
      t('storedConfirm'),
    );
    const cancel = el('button', { class: 'hw-button', value: 'cancel', autofocus: '' }, t('cancel'));
    const question = el('p', { id: 'erase-question' }, t('storedQuestion'));
    const form = el('form', { method: 'dialog' }, question, el('div', { class: 'hw-row' }, confirm, cancel));
    const dialog = el('dialog', { class: 'hw-card', 'aria-labelledby': question.id }, form);
    dialog.addEventListener('close', () => {
      if (dialog.returnValue === 'erase') void this.#erase();
      dialog.returnValue = '';
    });
    return dialog;
  }

  async #erase(): Promise<void> {
    this.#status.textContent = t('storedErasing');
    const answer = await sendMemoryRequest({ type: 'erase-all' });
    this.#status.textContent = answer.ok
      ? t('storedErased', { what: describeErased(answer.erased) })
      : answer.error;
    await this.refresh();
  }
}

function listFigures({ loads, bytes, oldestMs }: StoredData): [name: string, value: string][] {
  return [
    [t('storedLoads'), String(loads)],
    [t('storedSize'), formatBytes(bytes)],
    [t('storedOldest'), oldestMs === null ? '–' : formatTime(oldestMs)],
  ];
}

function describeErased({ loads, verifications, network }: Erased): string {
  const parts = [
    plural('pageLoads', loads),
    plural('verificationCount', verifications),
    network ? t('storedNetwork') : t('storedNoNetwork'),
  ];
  return formatList(parts);
}
