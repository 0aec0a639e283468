import type { Author } from './author.ts';
import { ParserPosition } from './parser-position.ts';
import { withoutFragment } from './url-text.ts';

/** Elements that request something, by what a selector finds. */
const REQUESTING = 'img,script,link,iframe,frame,video,audio,source,track,embed,object,input,image,use';
const REQUESTING_NAMES = new Set(REQUESTING.split(','));
const URL_KEYS = ['src', 'href', 'data', 'poster'] as const;

/**
 * Nodes inserted by scripts that are looked at in a frame. A page can measure what it takes to insert nodes, so there must be an end to
 * it. The parser's own work has no such clock: most pages' whole markup is looked at.
 */
const SCRIPT_NODE_LIMIT = 1_000;
/** The same with the parser's: scripts can insert where the parser would. */
const NODE_LIMIT = 10_000;

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
  #scriptNodesLeft = SCRIPT_NODE_LIMIT;
  #nodesLeft = NODE_LIMIT;

  /** Whether an element that requested something can be missing: no more is added then. */
  get isIncomplete(): boolean {
    return this.#nodesLeft <= 0 || this.#scriptNodesLeft <= 0;
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
      if (this.isIncomplete) break;
      // By index and without other properties: each costs as much as the rest for one of thousands of nodes.
      const { addedNodes } = record;
      if (addedNodes.length === 0) this.#countNode(author);
      for (let i = 0; i < addedNodes.length && !this.isIncomplete; i++)
        this.#addNode(addedNodes[i] as Element, author);
    }
    return author;
  }

  /** Adds an element that has loaded. Where it was not inserted with its present URL, a script has changed the URL. */
  addLoaded(element: Element): void {
    if (this.isIncomplete || !REQUESTING_NAMES.has(element.localName)) return;
    this.#nodesLeft--;
    this.#addElement(element, { by: 'script', scriptUrl: null, sinceMs: 0 });
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

  #countNode(author: Author): void {
    this.#nodesLeft--;
    if (author.by === 'script') this.#scriptNodesLeft--;
  }

  #addNode(node: Element, author: Author): void {
    this.#countNode(author);
    // Undefined for text.
    if (REQUESTING_NAMES.has(node.localName)) this.#addElement(node, author);
    // The parser inserts each element by itself.
    if (author.by === 'parser' || !node.firstElementChild) return;
    for (const child of node.querySelectorAll(REQUESTING)) {
      if (this.isIncomplete) return;
      this.#countNode(author);
      this.#addElement(child, author);
    }
  }

  #addElement(element: Element, author: Author): void {
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
