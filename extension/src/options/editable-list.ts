import { t } from '../language/translate.ts';
import { renderCardOfGroup, renderExplanation } from '../ui/card.ts';
import { renderButton, renderStatus } from '../ui/controls.ts';
import { builder } from '../ui/dom.ts';

interface EditableListOptions<Item> {
  title: string;
  explanation: string;
  /** What the user describes an item by; the first one gets the focus after a removal. */
  fields: readonly HTMLElement[];
  /** Text of the button that adds the item. */
  add: string;
  items(): readonly Item[];
  /** @throws Error with a message to show when the fields describe no item */
  read(): Item;
  /** Whether one item replaces the other. */
  isSame(a: Item, b: Item): boolean;
  compare?(a: Item, b: Item): number;
  describe(item: Item): { entry: string; remove: string; removed: string; added: string };
  /** @param done what was done, in words  @returns what to say about it */
  save(items: Item[], done: string): Promise<string>;
}

/** A list of which each item has a button that removes it, with a form that adds one. */
export function renderEditableList<Item>(options: EditableListOptions<Item>): HTMLElement {
  const { title, fields, describe, isSame } = options;
  const el = builder();
  const status = renderStatus();
  const list = el('ul', { class: 'hw-sites', 'aria-label': title });
  const form = el('form', { class: 'hw-row' }, ...fields, el('button', { class: 'hw-button' }, options.add));

  const save = async (items: Item[], done: string) => {
    status.textContent = await options.save(items, done);
    draw();
  };
  const without = (item: Item) => options.items().filter((other) => !isSame(other, item));
  const renderItem = (item: Item) => {
    const { entry, remove, removed } = describe(item);
    const onClick = async () => {
      await save(without(item), removed);
      (form.elements[0] as HTMLElement | undefined)?.focus();
    };
    const button = renderButton(t('remove'), onClick, { class: 'hw-link', 'aria-label': remove });
    return el('li', {}, el('span', {}, entry), button);
  };
  const draw = () => list.replaceChildren(...options.items().map(renderItem));
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    try {
      const item = options.read();
      const items = [...without(item), item];
      await save(options.compare ? items.sort(options.compare) : items, describe(item).added);
      for (const field of form.querySelectorAll('input')) field.value = '';
    } catch (error) {
      status.textContent = (error as Error).message;
    }
  });
  draw();
  const explanation = renderExplanation(title, options.explanation);
  return renderCardOfGroup(title, form, status, list, explanation);
}

/** A text field for a site. */
export function renderSiteField(): HTMLInputElement {
  return builder()('input', {
    type: 'text',
    class: 'hw-field',
    placeholder: 'example.org',
    autocapitalize: 'off',
    spellcheck: 'false',
  });
}
