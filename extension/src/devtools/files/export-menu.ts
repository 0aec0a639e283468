import { messageOf } from '@hopwise/contract';
import type { PinGain } from '../../evidence/pin-outcomes.ts';
import { type PlainKey, t } from '../../language/translate.ts';
import type { LoadExport } from '../../messages/load-messages.ts';
import { renderButton } from '../../ui/controls.ts';
import { builder } from '../../ui/dom.ts';
import { download } from '../../ui/download.ts';
import { writeHar } from './write-har.ts';
import { writeMarkdown } from './write-markdown.ts';
import { writeReport } from './write-report.ts';

const el = builder();

interface Format {
  label: PlainKey;
  ending: string;
  type: string;
  write(load: LoadExport, pinGain: PinGain | null): string | Promise<string>;
}

/** What is written: a load, and what its pins gained. */
export interface LoadToWrite {
  load: LoadExport;
  pinGain: PinGain | null;
}

const toJson = (value: object) => JSON.stringify(value, null, 1);

const FORMATS: readonly Format[] = [
  { label: 'exportRecording', ending: 'json', type: 'application/json', write: (load) => toJson(load) },
  {
    label: 'exportHar',
    ending: 'har',
    type: 'application/json',
    write: ({ recording }) => toJson(writeHar(recording, chrome.runtime.getManifest().version)),
  },
  { label: 'exportMarkdown', ending: 'md', type: 'text/markdown', write: writeMarkdown },
  { label: 'exportReport', ending: 'html', type: 'text/html', write: writeReport },
];

/** The menu that saves a load as a file, with the choice to include query strings. */
export class ExportMenu {
  readonly element: HTMLDetailsElement;
  readonly #withQueries = el('input', { type: 'checkbox' });
  readonly #choice = el('label', { class: 'hw-check' }, this.#withQueries, t('exportQueries'));
  readonly #read: (withQueries: boolean) => Promise<LoadToWrite>;
  readonly #showProblem: (problem: string) => void;

  /**
   * @param read returns the load; throws an Error with a message to show
   * @param showProblem called with the reason why a load was not saved, '' when it was
   */
  constructor(read: (withQueries: boolean) => Promise<LoadToWrite>, showProblem: (problem: string) => void) {
    this.#read = read;
    this.#showProblem = showProblem;
    const summary = el('summary', { class: 'hw-button' }, t('exportMenu'));
    const buttons = FORMATS.map((format) => renderButton(t(format.label), () => this.#save(format)));
    this.element = el(
      'details',
      { class: 'hw-menu' },
      summary,
      el('div', { class: 'hw-menu-items' }, ...buttons, this.#choice),
    );
    this.offerQueries(false);
    this.element.addEventListener('keydown', ({ key }) => {
      if (key !== 'Escape' || !this.element.open) return;
      this.element.open = false;
      summary.focus();
    });
    document.addEventListener('click', ({ target }) => {
      if (!this.element.contains(target as Node)) this.element.open = false;
    });
  }

  /** @param areKnown whether the load has query strings, and they are known */
  offerQueries(areKnown: boolean): void {
    this.#choice.hidden = !areKnown;
    if (!areKnown) this.#withQueries.checked = false;
  }

  async #save({ write, ending, type }: Format): Promise<void> {
    this.element.open = false;
    try {
      const { load, pinGain } = await this.#read(this.#withQueries.checked);
      const { host } = new URL(load.recording.url);
      download(`hopwise-${host.replace(/[^\w.-]/g, '_')}.${ending}`, await write(load, pinGain), type);
      this.#showProblem('');
    } catch (error) {
      this.#showProblem(messageOf(error));
    }
  }
}
