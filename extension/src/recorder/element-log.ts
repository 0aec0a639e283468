import type { Author } from './author.ts';
import { ParserPosition } from './parser-position.ts';
import { withoutFragment } from './url-text.ts';

/** Elements that request something, by what a selector finds. */
const REQUESTING = 'img,script,link,iframe,frame,video,audio,source,track,embed,object,input,image,use';
const REQUESTING_NAMES = new Set(REQUESTING.split(','));
const URL_KEYS = ['src', 'href', 'data', 'poster'] as const;

/** Attributes that make an element request something else. */
export const URL_ATTRIBUTES = [...URL_KEYS, 'srcset'];

/** Elements kept of a frame. */
const ELEMENT_COUNT_LIMIT = 20_000;

/**
 * Who made the elements that request something, by their URLs, from mutation records. They are delivered in the microtask checkpoint
 * after a classic script, in which `document.currentScript` is still that script, and in the one before the next script that the
 * parser has reached (HTML sections 8.1.4.4 and 13.2.6.4.8): so all of one delivery have one author.
 */
export class ElementLog {
  readonly #position = new ParserPosition();
  readonly #authors = new Map<string, Author>();
  /** Elements whose URL the browser chooses later. */
  readonly #choosing: [HTMLImageElement | HTMLMediaElement, Author][] = [];
  #elementsLeft = ELEMENT_COUNT_LIMIT;

  /** Whether an element that requested something can be missing. */
  get isIncomplete(): boolean {
    return this.#elementsLeft === 0;
  }

  /**
   * Adds mutations of one delivery.
   *
   * @param script `document.currentScript`
   * @param isParsing whether the parser may have made them
   * @param sinceMs latest known time before the task
   */
  add(
    records: MutationRecord[],
    script: HTMLOrSVGScriptElement | null,
    isParsing: boolean,
    sinceMs: number,
  ): Author {
    const author: Author = { by: 'script', scriptUrl: script && urlOfScript(script), sinceMs };
    if (!script && isParsing) this.#position.judge(records, author);
    for (const record of records) {
      // By index and without other properties: each costs as much as the rest for one of thousands of nodes.
      const { addedNodes } = record;
      for (let i = 0; i < addedNodes.length; i++) this.#addNode(addedNodes[i] as Element, author);
      if (addedNodes.length === 0 && record.type === 'attributes')
        this.#addChanged(record.target as Element, author);
    }
    return author;
  }

  /** To be called when an external script has run or has failed. */
  endScript(script: EventTarget): void {
    this.#position.endScript(script);
  }

  /** @returns the author of the element that requested a URL, or null when none is known */
  findAuthor(url: string): Author | null {
    for (const [element, author] of this.#choosing.splice(0)) this.#addUrl(element.currentSrc, author);
    return this.#authors.get(withoutFragment(url)) ?? null;
  }

  #addNode(node: Element, author: Author): void {
    // Undefined for text.
    if (REQUESTING_NAMES.has(node.localName)) this.#addElement(node, author);
    // The parser inserts each element by itself.
    if (author.by === 'parser' || !node.firstElementChild) return;
    for (const child of node.querySelectorAll(REQUESTING)) this.#addElement(child, author);
  }

  #addChanged(element: Element, author: Author): void {
    if (REQUESTING_NAMES.has(element.localName)) this.#addElement(element, author);
  }

  #addElement(element: Element, author: Author): void {
    if (this.#elementsLeft === 0) return;
    this.#elementsLeft--;
    for (const key of URL_KEYS) {
      const value = (element as unknown as Record<string, unknown>)[key];
      if (typeof value === 'string') this.#addUrl(value, author);
    }
    const isChoosing =
      element instanceof HTMLMediaElement ||
      (element instanceof HTMLImageElement &&
        (element.srcset || element.parentElement?.localName === 'picture'));
    if (isChoosing) this.#choosing.push([element, author]);
  }

  #addUrl(value: string, author: Author): void {
    const url = withoutFragment(value);
    if (/^https?:/.test(url) && !this.#authors.has(url)) this.#authors.set(url, author);
  }
}

/** @returns the URL of an external script without fragment, '' for an inline one */
export function urlOfScript(script: HTMLOrSVGScriptElement): string {
  return script instanceof HTMLScriptElement ? withoutFragment(script.src) : '';
}
