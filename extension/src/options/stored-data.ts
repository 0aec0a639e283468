import { type Erased, type StoredData, sendMemoryRequest } from '../messages/memory-messages.ts';
import { builder } from '../ui/dom.ts';
import { formatBytes, formatCount } from '../ui/format.ts';
import { renderSection, renderStatus } from './section.ts';

const CONTENTS =
  'For each page load: the URLs of its requests, their times and sizes, server addresses, the prediction, and a verification if ' +
  'there was one. Besides, figures of the network, without URLs. All of it stays in this browser.';
const QUESTION = 'Erase all page loads, verifications and the learned network?';
const HELPER =
  'The helper stores no page loads. Its log names the origins of verified pages and of pins; “uninstall --all” removes it.';

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
    const erase = el('button', { type: 'button', class: 'hw-button' }, 'Erase…');
    erase.addEventListener('click', () => this.#dialog.showModal());
    this.element = renderSection(
      'What is stored',
      el('p', {}, CONTENTS),
      this.#figures,
      el('div', {}, erase),
      this.#status,
      el('p', { class: 'hw-note' }, HELPER),
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
    const confirm = el('button', { class: 'hw-button hw-button-primary', value: 'erase' }, 'Erase');
    const cancel = el('button', { class: 'hw-button', value: 'cancel', autofocus: '' }, 'Cancel');
    const question = el('p', { id: 'erase-question' }, QUESTION);
    const form = el('form', { method: 'dialog' }, question, el('div', { class: 'hw-row' }, confirm, cancel));
    const dialog = el('dialog', { class: 'hw-card', 'aria-labelledby': question.id }, form);
    dialog.addEventListener('close', () => {
      if (dialog.returnValue === 'erase') void this.#erase();
      dialog.returnValue = '';
    });
    return dialog;
  }

  async #erase(): Promise<void> {
    this.#status.textContent = 'Erasing…';
    const answer = await sendMemoryRequest({ type: 'erase-all' });
    this.#status.textContent = answer.ok ? `Erased: ${describeErased(answer.erased)}.` : answer.error;
    await this.refresh();
  }
}

function listFigures({ loads, bytes, oldestMs }: StoredData): [name: string, value: string][] {
  return [
    ['Page loads', String(loads)],
    ['Size', formatBytes(bytes)],
    ['Oldest', oldestMs === null ? '–' : formatTime(oldestMs)],
  ];
}

function describeErased({ loads, verifications, network }: Erased): string {
  const parts = [
    formatCount(loads, 'page load'),
    formatCount(verifications, 'verification'),
    network ? 'the learned network' : 'no learned network',
  ];
  return `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

function formatTime(timeMs: number): string {
  return new Date(timeMs).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}
