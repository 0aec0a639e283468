import { sum } from '@hopwise/contract';
import { t } from '../language/translate.ts';
import { builder } from '../ui/dom.ts';
import { showChildren } from './show-children.ts';

const el = builder();

export interface Tab {
  id: string;
  label: string;
  /** Draws the content anew; called when the tab is selected and when the load changes. */
  render(): HTMLElement[];
}

/**
 * Tabs with their panel, after the ARIA Authoring Practices' tabs pattern: arrow keys, Home and End move the selection. Those that do
 * not fit beside each other are in a menu.
 */
export class Tabs {
  /** The tabs in one line, with their menu. */
  readonly bar: HTMLElement;
  readonly #list = el('div', { class: 'hw-tabs', role: 'tablist', 'aria-label': t('panelViews') });
  readonly panel = el('div', { class: 'hw-tab-panel', role: 'tabpanel', id: 'hw-tab-panel', tabindex: '0' });
  readonly #menu = el('select', { class: 'hw-more-tabs', 'aria-label': t('panelMoreTabs') });
  readonly #heading = el('h2', { class: 'hw-visually-hidden' });
  readonly #tabs: readonly Tab[];
  readonly #buttons: HTMLButtonElement[];
  #selected = 0;

  constructor(tabs: readonly Tab[]) {
    this.#tabs = tabs;
    this.#buttons = tabs.map(({ id, label }, index) => {
      const button = el(
        'button',
        { type: 'button', role: 'tab', id: `hw-tab-${id}`, 'aria-controls': 'hw-tab-panel' },
        label,
      );
      button.addEventListener('click', () => this.#select(index));
      button.addEventListener('keydown', (event) => this.#onKey(event));
      return button;
    });
    this.#list.append(...this.#buttons);
    this.#menu.addEventListener('change', () => {
      const index = tabs.findIndex(({ id }) => id === this.#menu.value);
      this.#select(index);
      this.#buttons[index]!.focus();
    });
    this.bar = el('div', { class: 'hw-tab-bar' }, this.#list, this.#menu);
    this.#mark();
    new ResizeObserver(() => this.#fit()).observe(this.bar);
  }

  get selected(): string {
    return this.#tabs[this.#selected]!.id;
  }

  /** Draws the selected tab's content anew. */
  draw(): void {
    const { label, render } = this.#tabs[this.#selected]!;
    this.#heading.textContent = label;
    showChildren(this.panel, [this.#heading, ...render()]);
  }

  select(id: string): void {
    this.#select(this.#tabs.findIndex((tab) => tab.id === id));
  }

  #select(index: number): void {
    this.#selected = index;
    this.#mark();
    this.#fit();
    this.draw();
  }

  /** Leaves as many tabs in the line as fit, the selected one among them. */
  #fit(): void {
    for (const element of [...this.#buttons, this.#menu]) element.hidden = false;
    const widths = this.#buttons.map(({ offsetWidth }) => offsetWidth);
    const isAllShown = sum(widths) <= this.bar.clientWidth;
    let leftPx = this.bar.clientWidth - (isAllShown ? 0 : this.#menu.offsetWidth + widths[this.#selected]!);
    this.#menu.hidden = isAllShown;
    this.#menu.replaceChildren(el('option', { value: '', hidden: '' }, '»'));
    if (isAllShown) return;
    for (const [index, button] of this.#buttons.entries()) {
      if (index === this.#selected) continue;
      leftPx -= widths[index]!;
      button.hidden = leftPx < 0;
      const { id, label } = this.#tabs[index]!;
      if (button.hidden) this.#menu.append(el('option', { value: id }, label));
    }
  }

  #mark(): void {
    for (const [index, button] of this.#buttons.entries()) {
      const isSelected = index === this.#selected;
      button.setAttribute('aria-selected', String(isSelected));
      button.tabIndex = isSelected ? 0 : -1;
    }
    this.panel.setAttribute('aria-labelledby', this.#buttons[this.#selected]!.id);
  }

  #onKey(event: KeyboardEvent): void {
    const last = this.#buttons.length - 1;
    const targets: Record<string, number> = {
      ArrowRight: this.#selected === last ? 0 : this.#selected + 1,
      ArrowLeft: this.#selected === 0 ? last : this.#selected - 1,
      Home: 0,
      End: last,
    };
    const target = targets[event.key];
    if (target === undefined) return;
    event.preventDefault();
    this.#select(target);
    this.#buttons[target]!.focus();
  }
}
