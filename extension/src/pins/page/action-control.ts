import type { Decision } from '@hopwise/contract';
import { HelperWatch } from '../../helper/helper-watch.ts';
import { plural, t } from '../../language/translate.ts';
import type { StoredLoad } from '../../storage/loads.ts';
import { renderButton, renderStatus } from '../../ui/controls.ts';
import { builder } from '../../ui/dom.ts';
import { nameVersion } from '../../ui/format.ts';
import { renderInstallButton } from '../../ui/install-helper.ts';
import { type PlannedPin, planPins, planUnknownOffers } from '../plan-pins.ts';
import { renderCaInstructions } from './ca-instructions.ts';
import type { PinsModel } from './pins-model.ts';

/** The button that carries out a decision by pins, and reloads the page. */
export class ActionControl {
  readonly element: HTMLElement;
  readonly #el = builder();
  readonly #model: PinsModel;
  readonly #reload: () => Promise<unknown>;
  readonly #helper: HelperWatch;
  readonly #button: HTMLButtonElement;
  /** In place of the button while the helper is missing. */
  readonly #install: HTMLButtonElement;
  readonly #note: HTMLElement;
  /** What a click changes, before pins are allowed: afterwards it is beside the choice of their lifetime. */
  readonly #effects: HTMLElement;
  readonly #status: HTMLElement;
  readonly #instructions: HTMLElement;
  #planned: PlannedPin[] = [];
  #skipped = 0;
  /** Whether the page is reloaded once all pins are active. */
  #isReloadDue = false;
  #showsInstructions = false;

  /** @param reload reloads the page that the decision is about */
  constructor(model: PinsModel, reload: () => Promise<unknown>, helper = new HelperWatch()) {
    const el = this.#el;
    this.#model = model;
    this.#reload = reload;
    this.#helper = helper;
    this.#install = renderInstallButton();
    this.#button = renderButton(t('makeFaster'), () => this.#act(), { class: 'hw-button hw-button-primary' });
    this.#note = el('p', { class: 'hw-note' });
    this.#effects = el('details', { class: 'hw-note' });
    this.#status = renderStatus();
    this.#instructions = el('div', {});
    this.element = el(
      'div',
      { class: 'hw-action' },
      this.#button,
      this.#install,
      this.#note,
      this.#effects,
      this.#status,
      this.#instructions,
    );
    model.onChange(() => this.#update());
    helper.onChange(() => this.#update());
    this.#update();
  }

  /** Whether it offers to make pins. */
  get isOffered(): boolean {
    return this.#planned.length > 0 && !this.#isMade();
  }

  /** @param decision null while no prediction is shown @param load that it is made from */
  show(decision: Decision | null, load: StoredLoad | null = null): void {
    const action = decision?.kind === 'act' ? decision.action : null;
    const ofAction = action ? planPins(action) : [];
    const planned = [...ofAction, ...(load ? planUnknownOffers(ofAction, load) : [])];
    if (JSON.stringify(planned) !== JSON.stringify(this.#planned)) {
      this.#status.textContent = '';
      this.#showsInstructions = false;
      this.#isReloadDue = false;
    }
    this.#planned = planned;
    const effects = [t('actionEffects'), t('pinResolver'), this.#needsCa() ? t('pinCertificate') : ''].join(
      ' ',
    );
    this.#effects.replaceChildren(this.#el('summary', {}, t('actionWhatItChanges')), effects);
    this.#skipped = (action?.origins.length ?? 0) - ofAction.length;
    this.#update();
  }

  async #act(): Promise<void> {
    if (this.#model.isBusy) return;
    this.#say(t('pinning'));
    // Without an await before it: browsers show the prompt only directly in a click handler.
    const problem = await this.#model.allow();
    if (problem !== '') return this.#say(problem);
    if (this.#needsCa()) {
      await this.#model.requestCaHosts();
      if (this.#uncovered().length > 0) {
        this.#showsInstructions = true;
        this.#say('');
        return this.#update();
      }
    }
    const refusal = await this.#model.makePins(this.#planned);
    this.#say(refusal);
    this.#isReloadDue = refusal === '';
    this.#update();
  }

  #needsCa(): boolean {
    return this.#planned.some(({ kind }) => kind !== 'avoid-h3');
  }

  /** Pins to a protocol whose host the local CA does not cover. */
  #uncovered(): PlannedPin[] {
    return this.#planned.filter(
      ({ origin, kind }) => kind !== 'avoid-h3' && !this.#model.isCoveredByCa(origin),
    );
  }

  #say(text: string): void {
    this.#status.textContent = text;
  }

  #isMade(): boolean {
    return this.#planned.every((pin) => this.#model.findMade(pin));
  }

  #update(): void {
    const model = this.#model;
    const isMade = this.#isMade();
    const isWaiting = this.#planned.some((pin) => model.findMade(pin)?.state === 'waiting');
    this.element.hidden = this.#planned.length + this.#skipped === 0;
    if (!isMade) void this.#helper.lookOnce();
    this.#button.hidden = isMade || this.#helper.isMissing;
    this.#install.hidden = isMade || !this.#helper.isMissing;
    // Not `disabled`: a disabled button loses the focus.
    this.#button.setAttribute('aria-disabled', String(model.isBusy));
    this.#note.textContent = this.#describe(isMade, isWaiting);
    this.#effects.hidden = model.isAllowed || isMade || this.#helper.isMissing;
    this.#renderInstructions();
    if (!this.#isReloadDue || !isMade || isWaiting) return;
    this.#isReloadDue = false;
    void this.#reload();
  }

  #describe(isMade: boolean, isWaiting: boolean): string {
    const skipped = this.#skipped === 0 ? '' : plural('actionSkipped', this.#skipped);
    if (this.#planned.length === 0) return skipped;
    if (isMade) return isWaiting ? t('actionWaits') : '';
    const { problem, isAllowed } = this.#model;
    if (problem !== '') return problem === this.#status.textContent ? '' : problem;
    if (this.#helper.isMissing) return t('actionNeedsHelper');
    const needs = this.#needsCa() ? t('actionNeedsCa') : '';
    return [needs, isAllowed ? '' : t('actionPermission'), skipped].filter(Boolean).join(' ');
  }

  #renderInstructions(): void {
    const uncovered = this.#uncovered();
    if (!this.#showsInstructions || uncovered.length === 0) {
      this.#instructions.replaceChildren();
      return;
    }
    // Rendering again would drop a text selection inside.
    const shown = `${JSON.stringify(uncovered)} ${this.#model.caHosts} ${this.#model.problem}`;
    if (this.#instructions.dataset.shown === shown && this.#instructions.hasChildNodes()) return;
    this.#instructions.dataset.shown = shown;
    const protocols = new Set(uncovered.map(({ kind }) => kind));
    const [only] = protocols;
    this.#instructions.replaceChildren(
      renderCaInstructions({
        origins: uncovered.map(({ origin }) => origin),
        version:
          protocols.size === 1 && only !== undefined && only !== 'avoid-h3'
            ? nameVersion(only)
            : t('actionChosenVersion'),
        button: t('makeFaster'),
        caHosts: this.#model.caHosts ?? [],
        launcher: this.#model.launcher,
        problem: this.#model.problem,
        onClose: () => {
          this.#showsInstructions = false;
          this.#update();
        },
      }),
    );
  }
}
