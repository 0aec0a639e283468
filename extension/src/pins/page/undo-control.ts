import type { Assignment, PinState } from '@hopwise/contract';
import type { PinGain } from '../../evidence/pin-outcomes.ts';
import { plural, t } from '../../language/translate.ts';
import { renderButton, renderStatus } from '../../ui/controls.ts';
import { builder } from '../../ui/dom.ts';
import type { PlannedPin } from '../plan-pins.ts';
import { describeEarliestEnd, isUseless } from './pin-text.ts';
import type { PinsModel } from './pins-model.ts';

/** For how many servers of the shown page pins are on and until when, the button that removes them all, and then one that makes them again. */
export class UndoControl {
  readonly element: HTMLElement;
  readonly #model: PinsModel;
  readonly #reload: () => Promise<unknown>;
  readonly #count: HTMLElement;
  readonly #button: HTMLButtonElement;
  readonly #again: HTMLButtonElement;
  readonly #status: HTMLElement;
  #origins: readonly string[] = [];
  #gain: PinGain | null = null;
  #isOffered = false;
  #loadedWith: Assignment | null = null;
  /** The pins that were removed last. */
  #undone: PlannedPin[] = [];

  /** @param reload reloads the page */
  constructor(model: PinsModel, reload: () => Promise<unknown>) {
    const el = builder();
    this.#model = model;
    this.#reload = reload;
    this.#count = el('span', {});
    this.#button = renderButton(t('undo'), () => this.#removePins());
    this.#again = renderButton(t('undoAgain'), () => this.#makeAgain());
    this.#status = renderStatus();
    this.element = el('div', { class: 'hw-undo' }, this.#button, this.#count, this.#status, this.#again);
    model.onChange(() => this.#update());
    this.#update();
  }

  /**
   * @param origins of the shown page; none while it loads
   * @param gain of its pins, where loads show it
   * @param isOffered whether a button beside this one offers to make pins
   * @param loadedWith what pins held the page's origins to in the shown load; null where the page may have been loaded since
   */
  show(
    origins: readonly string[],
    gain: PinGain | null,
    isOffered = false,
    loadedWith: Assignment | null = null,
  ): void {
    this.#origins = origins;
    this.#gain = gain;
    this.#isOffered = isOffered;
    this.#loadedWith = loadedWith;
    const isOther = this.#undone.some(({ origin }) => !origins.includes(origin));
    if (origins.length > 0 && isOther) this.#forgetUndone();
    this.#update();
  }

  async #removePins(): Promise<void> {
    if (this.#model.isBusy) return;
    this.#say(t('undoing'));
    const pinned = this.#pinned();
    const refusal = await this.#model.removePins(pinned.map(({ origin }) => origin));
    if (refusal !== '') return this.#say(refusal);
    this.#undone = pinned.map(({ origin, kind, allowLocal }) => ({ origin, kind, allowLocal }));
    this.#say(t('undone'));
    this.#update();
    await this.#reload();
  }

  async #makeAgain(): Promise<void> {
    if (this.#model.isBusy) return;
    this.#say(t('pinning'));
    const refusal = await this.#model.makePins(this.#undone);
    if (refusal !== '') return this.#say(refusal);
    this.#forgetUndone();
    this.#update();
    await this.#reload();
  }

  #forgetUndone(): void {
    this.#undone = [];
    this.#say('');
  }

  #say(text: string): void {
    this.#status.textContent = text;
  }

  #pinned(): PinState[] {
    return this.#origins.flatMap((origin) => this.#model.findActive(origin) ?? []);
  }

  #describeCount(pinned: readonly PinState[]): string {
    if (pinned.length === 0) return '';
    const until = describeEarliestEnd(pinned);
    if (pinned.every(({ state }) => state === 'waiting'))
      return plural('undoWaiting', pinned.length, { until });
    // The autopilot makes pins after the load that called for them, whose times stand above.
    const isNew = this.#loadedWith !== null && pinned.every(({ origin }) => !(origin in this.#loadedWith!));
    return plural(isNew ? 'undoNext' : 'undoCount', pinned.length, { until });
  }

  #update(): void {
    const pinned = this.#pinned();
    // Made by another button in the meantime.
    if (pinned.length > 0 && this.#undone.length > 0 && !this.#model.isBusy) this.#forgetUndone();
    const isUndone = this.#undone.length > 0;
    const useless = isUseless(this.#gain);
    this.element.hidden = pinned.length === 0 && !isUndone;
    this.#count.textContent = this.#describeCount(pinned);
    this.#button.classList.toggle('hw-button-primary', useless);
    this.#button.hidden = pinned.length === 0;
    this.#again.hidden = !isUndone || this.#isOffered;
    // Not `disabled`: a disabled button loses the focus.
    for (const button of [this.#button, this.#again])
      button.setAttribute('aria-disabled', String(this.#model.isBusy));
  }
}
