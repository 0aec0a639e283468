import { t } from '../language/translate.ts';
import { builder } from '../ui/dom.ts';

/**
 * A view whose code is loaded when it is first shown, so that the panel shows its first tab sooner. It is empty for the moment that this
 * takes: the code is a file of the extension.
 */
export class LaterView<View extends { readonly element: HTMLElement; close?(): void }, Code = unknown> {
  #element: HTMLElement = builder()('p', { class: 'hw-note', role: 'alert' });
  #view: View | null = null;
  #isClosed = false;

  /**
   * @param code the module with the view's code, which is still being loaded
   * @param make makes the view; not called where this is closed before the code is there
   * @param onMade called when the view is in its place
   */
  constructor(code: Promise<Code>, make: (code: Code) => View, onMade: () => void = () => {}) {
    void this.#show(
      code.then((loaded) => () => make(loaded)),
      onMade,
    );
  }

  /** The view, or what stands in its place until its code is there. */
  get element(): HTMLElement {
    return this.#element;
  }

  /** Null until its code is there. */
  get view(): View | null {
    return this.#view;
  }

  close(): void {
    this.#isClosed = true;
    this.#view?.close?.();
  }

  async #show(code: Promise<() => View>, onMade: () => void): Promise<void> {
    // An update of the extension takes its files away while the panel is open.
    const make = await code.catch(() => null);
    if (this.#isClosed) return;
    if (make === null) {
      this.#element.textContent = t('panelViewMissing');
      return;
    }
    this.#view = make();
    this.#element.replaceWith(this.#view.element);
    this.#element = this.#view.element;
    onMade();
  }
}
