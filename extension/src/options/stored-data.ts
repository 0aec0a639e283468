import { plural, t } from '../language/translate.ts';
import { type Erased, type StoredData, sendMemoryRequest } from '../messages/memory-messages.ts';
import { renderCard } from '../ui/card.ts';
import { builder } from '../ui/dom.ts';
import { formatBytes, formatList, formatTime } from '../ui/format.ts';
import { renderStatus } from './controls.ts';

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
    const erase = el('button', { type: 'button', class: 'hw-button' }, t('storedErase'));
    erase.addEventListener('click', () => this.#dialog.showModal());
    this.element = renderCard(
      t('storedTitle'),
      el('p', {}, t('storedContents')),
      this.#figures,
      el('div', {}, erase),
      this.#status,
      el('p', { class: 'hw-note' }, t('storedHelper')),
      this.#dialog,
    );
    void this.refresh();
  }

  async refresh(): Promise<void> {
    const el = builder();
    const answer = await sendMemoryRequest({ type: 'stored-data' });
    if (!answer.ok) {
      this.#status.textContent = answer.error;
      return;
    }
    const figures = listFigures(answer.stored);
    this.#figures.replaceChildren(
      ...figures.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]),
    );
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
