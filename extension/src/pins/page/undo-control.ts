import type { PinGain } from '../../evidence/pin-outcomes.ts';
import { plural, t } from '../../language/translate.ts';
import { renderButton, renderStatus } from '../../ui/controls.ts';
import { builder } from '../../ui/dom.ts';
import { isUseless } from './pin-text.ts';
import type { PinsModel } from './pins-model.ts';

/** The number of the shown page's pins, and the button that removes them all. */
export class UndoControl {
  readonly element: HTMLElement;
  readonly #model: PinsModel;
  readonly #count: HTMLElement;
  readonly #button: HTMLButtonElement;
  readonly #status: HTMLElement;
  #origins: readonly string[] = [];
  #gain: PinGain | null = null;

  constructor(model: PinsModel) {
    const el = builder();
    this.#model = model;
    this.#count = el('span', {});
    this.#button = renderButton('', () => this.#removePins());
    this.#status = renderStatus();
    this.element = el('div', { class: 'hw-undo' }, this.#button, this.#count, this.#status);
    model.onChange(() => this.#update());
    this.#update();
  }

  /**
   * @param origins of the shown page
   * @param gain of its pins, where loads show it
   */
  show(origins: readonly string[], gain: PinGain | null): void {
    this.#origins = origins;
    this.#gain = gain;
    this.#update();
  }

  async #removePins(): Promise<void> {
    this.#status.textContent = await this.#model.removePins(this.#pinned());
  }

  #pinned(): string[] {
    return this.#origins.filter((origin) => this.#model.findActive(origin));
  }

  #update(): void {
    const pinned = this.#pinned().length;
    const useless = isUseless(this.#gain);
    this.element.hidden = pinned === 0;
    this.#count.textContent = plural('undoCount', pinned);
    this.#button.textContent = useless ? t('pinsLift') : t('undo');
    this.#button.classList.toggle('hw-button-primary', useless);
    // Not `disabled`: a disabled button loses the focus.
    this.#button.setAttribute('aria-disabled', String(this.#model.isBusy));
  }
}
