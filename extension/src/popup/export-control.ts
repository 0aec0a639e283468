import { t } from '../language/translate.ts';
import { sendLoadRequest, type WhichLoad } from '../messages/load-messages.ts';
import { renderButton } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';
import { download } from '../ui/download.ts';

/** The button that saves a load as a JSON file, with the choice to include query strings. */
export class ExportControl {
  readonly element: HTMLElement;
  readonly #withQueries: HTMLInputElement;
  readonly #choice: HTMLElement;

  /** @param showProblem called with the reason why a load was not saved */
  constructor(which: WhichLoad, showProblem: (problem: string) => void) {
    const el = builder();
    const save = renderButton(t('exportJson'), async () => {
      const problem = await downloadExport(which, this.#withQueries.checked);
      if (problem) showProblem(problem);
    });
    this.#withQueries = el('input', { type: 'checkbox' });
    this.#choice = el('label', { class: 'hw-note' }, this.#withQueries, ` ${t('exportQueries')}`);
    this.element = el('div', { class: 'hw-export' }, save, this.#choice);
    this.offerQueries(false);
  }

  /** @param areKnown whether the load has query strings, and they are known */
  offerQueries(areKnown: boolean): void {
    this.#choice.hidden = !areKnown;
    if (!areKnown) this.#withQueries.checked = false;
  }
}

/** @returns '' or the reason why it failed, as a message to show */
async function downloadExport(which: WhichLoad, withQueries: boolean): Promise<string> {
  const answer = await sendLoadRequest({ type: 'export', ...which, withQueries });
  if (!answer.ok) return answer.error;
  const { host } = new URL(answer.export.recording.url);
  download(
    `hopwise-${host.replace(/[^\w.-]/g, '_')}.json`,
    JSON.stringify(answer.export, null, 1),
    'application/json',
  );
  return '';
}
