/** Options of every view. */
export interface ViewOptions {
  /** Document to create elements in; needed by callers outside a browser window. */
  document?: Document | undefined;
  /** Width of charts, CSS pixels. */
  width?: number | undefined;
}

export type Child = Node | string | null | undefined;

/** Returns a function that builds elements of one document. Strings become text nodes: nothing is parsed as markup. */
export function builder(options: ViewOptions = {}) {
  const doc = options.document ?? globalThis.document;
  return <K extends keyof HTMLElementTagNameMap>(
    name: K,
    attributes: Record<string, string> = {},
    ...children: Child[]
  ): HTMLElementTagNameMap[K] => {
    const element = doc.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    for (const child of children) {
      if (child !== null && child !== undefined) {
        element.append(typeof child === 'string' ? doc.createTextNode(child) : child);
      }
    }
    return element;
  };
}

export type Build = ReturnType<typeof builder>;
