import { messageOf } from '@hopwise/contract';
import { t } from '../../language/translate.ts';
import { renderButton } from '../../ui/controls.ts';
import { builder } from '../../ui/dom.ts';
import { openFile } from '../emulation/open-file.ts';
import type { OpenedFile } from '../emulation/read-file.ts';

const el = builder();

/** The button that opens a recording from a file. A file may also be dropped anywhere on the panel. */
export class ImportControl {
  readonly element: HTMLElement;
  readonly status = el('p', { class: 'hw-note hw-file-status', role: 'status' });
  readonly #onOpened: (file: OpenedFile) => void;
  readonly #input: HTMLInputElement;
  /** Number of the newest file, whose outcome counts. */
  #newest = 0;

  constructor(onOpened: (file: OpenedFile) => void) {
    this.#onOpened = onOpened;
    this.#input = el('input', {
      type: 'file',
      accept: '.har,.json,.gz',
      hidden: '',
      'aria-label': t('fileToOpen'),
    });
    const button = renderButton(t('fileOpen'), () => this.choose(), { title: t('fileKinds') });
    this.#input.addEventListener('change', () => {
      void this.#open([...(this.#input.files ?? [])]);
      // The same file may be chosen again after it has changed.
      this.#input.value = '';
    });
    this.element = el('div', { class: 'hw-import' }, button, this.#input);
    this.#acceptDrops();
  }

  /** Has the person choose a file. */
  choose(): void {
    this.#input.click();
  }

  #acceptDrops(): void {
    const mark = (isOver: boolean) => document.body.classList.toggle('hw-drop-target', isOver);
    const hasFile = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true;
    document.addEventListener('dragover', (event) => {
      if (!hasFile(event)) return;
      event.preventDefault();
      mark(true);
    });
    document.addEventListener('dragleave', ({ relatedTarget }) => {
      // Null: the pointer has left the panel, and not one element for another.
      if (relatedTarget === null) mark(false);
    });
    document.addEventListener('drop', (event) => {
      mark(false);
      if (!hasFile(event)) return;
      event.preventDefault();
      void this.#open([...(event.dataTransfer?.files ?? [])]);
    });
  }

  async #open(files: readonly File[]): Promise<void> {
    const [file] = files;
    if (!file) return;
    this.#newest += 1;
    const own = this.#newest;
    if (files.length > 1) {
      this.#show(t('fileExpectedOne', { count: files.length }));
      return;
    }
    this.#show(t('fileReading', { name: file.name }));
    try {
      const opened = await openFile(file);
      if (own !== this.#newest) return;
      this.#show('');
      this.#onOpened(opened);
    } catch (error) {
      if (own === this.#newest) this.#show(messageOf(error));
    }
  }

  #show(text: string): void {
    this.status.textContent = text;
  }
}
