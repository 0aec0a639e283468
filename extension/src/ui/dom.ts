/** Options of every view. */
export interface ViewOptions {
  /** Document to create elements in; needed by callers outside a browser window. */
  document?: Document | undefined;
  /** Width of charts, CSS pixels. */
  width?: number | undefined;
}

export type Child = Node | string | null | undefined;

/** Characters that set the text around them in another direction (Unicode, annex 9), and controls but tabs and line breaks. */
const STEERING = /[^\P{Cc}\t\n\r]|[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** Text that came from a page, without what could make a name look like another one. */
export const visible = (text: string): string => text.replace(STEERING, '\uFFFD');

/**
 * Returns a function that builds elements of one document. Strings become text nodes, as `visible` has them: nothing is parsed as markup.
 */
export function builder(options: ViewOptions = {}) {
  const doc = options.document ?? globalThis.document;
  return <K extends keyof HTMLElementTagNameMap>(
    name: K,
    attributes: Record<string, string> = {},
    ...children: Child[]
  ): HTMLElementTagNameMap[K] => {
    const element = doc.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, visible(value));
    for (const child of children) {
      if (child !== null && child !== undefined) {
        element.append(typeof child === 'string' ? doc.createTextNode(visible(child)) : child);
      }
    }
    return element;
  };
}

export type Build = ReturnType<typeof builder>;
