import type { Prediction } from '@hopwise/contract';
import { type NamedNetwork, type ServerAdviceList, toPath } from '@hopwise/pageload-emulator';
import { t } from '../../language/translate.ts';
import { builder } from '../../ui/dom.ts';
import { formatOrigin, formatShare } from '../../ui/format.ts';
import type { EmulationClient } from '../emulation/emulation-client.ts';
import { NAMED_NETWORKS } from '../what-if/named-networks.ts';
import { renderAdvice } from './advice-view.ts';

const el = builder();

/** The networks that "common networks" stands for, each with the same share of the visitors. */
const COMMON: readonly string[] = ['fast', 'cable', 'dsl', 'lte', 'lte-poor'];
/** Origins that can be named as the person's own. */
const MAX_OTHERS = 12;

/** What to change at the servers of the page's own site, and what it gains on the networks of their visitors. */
export class ServersTab {
  readonly element: HTMLElement;
  readonly #origins: readonly string[];
  readonly #emulation: EmulationClient;
  readonly #networks: HTMLSelectElement;
  readonly #unproven = el('input', { type: 'checkbox' });
  readonly #others = el('div', { class: 'hw-own-origins' });
  readonly #status = el('p', { class: 'hw-note', role: 'status' });
  readonly #advice = el('div', {});
  /** Hosts that the person has named as their own. */
  readonly #own = new Set<string>();

  constructor({ origins }: Prediction, emulation: EmulationClient) {
    this.#origins = origins.map(({ origin }) => origin);
    this.#emulation = emulation;
    this.#networks = el(
      'select',
      { 'aria-label': t('serversVisitors') },
      el('option', { value: 'own' }, t('whatIfThisNetwork')),
      el('option', { value: 'common' }, t('serversCommon')),
      ...NAMED_NETWORKS.map(({ id, title }) => el('option', { value: id }, t(title))),
    );
    for (const control of [this.#networks, this.#unproven]) {
      control.addEventListener('change', () => this.#ask());
    }
    this.element = el(
      'section',
      { class: 'hw-card hw-servers' },
      el('h3', {}, t('serversTitle')),
      el(
        'div',
        { class: 'hw-tools' },
        el('label', {}, `${t('serversVisitors')} `, this.#networks),
        el('label', { class: 'hw-check' }, this.#unproven, t('serversUnproven')),
      ),
      this.#advice,
      this.#status,
      this.#others,
    );
    this.#ask();
  }

  #ask(): void {
    const networks = this.#visitors();
    this.#showProgress(0);
    this.#emulation.askServers(
      { ...(networks && { networks }), ownHosts: [...this.#own], unproven: this.#unproven.checked },
      ({ tried, list }) => {
        if (list === null) return this.#showProgress(tried);
        this.#status.textContent = list.advice.length === 0 ? '' : t('serversPredicted');
        this.#show(list);
      },
      (problem) => {
        this.#advice.replaceChildren();
        this.#status.textContent = t('panelEmulationFailed', { problem });
      },
    );
  }

  #showProgress(tried: number): void {
    this.#status.textContent = t('serversTrying', { share: formatShare(tried) });
  }

  #visitors(): NamedNetwork[] | undefined {
    const { value } = this.#networks;
    const chosen = NAMED_NETWORKS.filter(({ id }) =>
      value === 'common' ? COMMON.includes(id) : id === value,
    );
    if (chosen.length === 0) return undefined;
    return chosen.map(({ title, network }) => ({
      name: t(title),
      share: 1 / chosen.length,
      path: toPath(network),
    }));
  }

  #show(list: ServerAdviceList): void {
    const others = this.#origins.filter((origin) => !list.owned.includes(origin));
    // Once: a box that is being used must stay.
    if (this.#others.childElementCount === 0 && others.length > 0) this.#offerOthers(others);
    this.#advice.replaceChildren(...renderAdvice(list, this.#unproven.checked));
  }

  #offerOthers(origins: readonly string[]): void {
    const boxes = origins.slice(0, MAX_OTHERS).map((origin) => {
      const box = el('input', { type: 'checkbox' });
      box.addEventListener('change', () => {
        const { host } = new URL(origin);
        if (box.checked) this.#own.add(host);
        else this.#own.delete(host);
        this.#ask();
      });
      return el('label', { class: 'hw-check', title: origin }, box, formatOrigin(origin));
    });
    this.#others.append(el('fieldset', {}, el('legend', {}, t('serversOthers')), ...boxes));
  }
}
