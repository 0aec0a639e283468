import { messageOf, PROTOCOL_NAME } from '@hopwise/contract';
import { t } from '../../language/translate.ts';
import { renderButton } from '../../ui/controls.ts';
import { builder } from '../../ui/dom.ts';
import { createDurationFormat } from '../../ui/format.ts';
import type { EconTimes } from '../emulation/econ-times.ts';
import type { EmulationClient } from '../emulation/emulation-client.ts';
import type { WhatIfSettings } from '../emulation/what-if.ts';

const el = builder();

/** Counts of 10,000 windows take half of it. */
const MAX_FILE_BYTES = 1_000_000;

/** Load times by ECON with the loss by window that a server has counted, from a file. The panel itself fetches nothing. */
export class ServerLoss {
  readonly element: HTMLElement;
  readonly #emulation: EmulationClient;
  readonly #result = el('div', { 'aria-live': 'polite' });
  readonly #settings: () => WhatIfSettings;
  /** Name and text of the file. */
  #chosen: { name: string; text: string } | null = null;

  /** @param settings returns those that the sliders show */
  constructor(emulation: EmulationClient, settings: () => WhatIfSettings) {
    this.#emulation = emulation;
    this.#settings = settings;
    const input = el('input', {
      type: 'file',
      accept: '.json,.csv,.txt',
      hidden: '',
      'aria-label': t('serverLossFile'),
    });
    input.addEventListener('change', () => {
      const [file] = input.files ?? [];
      // The same file may be chosen again, as when it has changed.
      if (file) void this.#open(file).finally(() => (input.value = ''));
    });
    this.element = el(
      'details',
      { class: 'hw-server-loss hw-rest' },
      el('summary', {}, t('serverLossTitle')),
      el('p', { class: 'hw-note' }, t('serverLossNote')),
      renderButton(t('serverLossFile'), () => input.click()),
      input,
      this.#result,
    );
  }

  /** Computes the load times again, for other settings. */
  update(): void {
    if (!this.#chosen) return;
    const { name, text } = this.#chosen;
    this.#emulation.askEcon(
      this.#settings(),
      text,
      ({ times }) => this.#result.replaceChildren(...renderTimes(name, times)),
      (problem) => {
        this.#chosen = null;
        this.#showProblem(`${name}: ${problem}`);
      },
    );
  }

  async #open(file: File): Promise<void> {
    try {
      if (file.size > MAX_FILE_BYTES) {
        this.#showProblem(t('serverLossTooLarge', { name: file.name }));
        return;
      }
      this.#chosen = { name: file.name, text: await file.text() };
      this.update();
    } catch (error) {
      this.#showProblem(`${file.name}: ${messageOf(error)}`);
    }
  }

  #showProblem(problem: string): void {
    this.#result.replaceChildren(el('p', { class: 'hw-error' }, problem));
  }
}

function renderTimes(name: string, { counted, random }: EconTimes): HTMLElement[] {
  const format = createDurationFormat(Math.max(counted.h1, counted.h2, random.h1, random.h2));
  const row = (protocol: 'h1' | 'h2') =>
    el(
      'tr',
      {},
      el('th', { scope: 'row' }, PROTOCOL_NAME[protocol]),
      el('td', { class: 'hw-number' }, format(counted[protocol])),
      el('td', { class: 'hw-number' }, format(random[protocol])),
    );
  return [
    el(
      'table',
      { class: 'hw-table' },
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          el('th', { scope: 'col' }, t('columnProtocol')),
          el('th', { scope: 'col', class: 'hw-number' }, name),
          el('th', { scope: 'col', class: 'hw-number' }, t('serverLossRandom')),
        ),
      ),
      el('tbody', {}, row('h1'), row('h2')),
    ),
  ];
}
