/**
 * Runs in the page's own world before its scripts: notes which script asks for which URL (fetch,
 * XMLHttpRequest, `src`, `srcset` and `href` of elements that load something). Every built-in that
 * it needs later is taken here, so that nothing the page redefines is called; nothing is stored
 * where the page can reach it; a failure of its own never reaches the page.
 */
import { type AskKind, CHANNEL_EVENT, STOP_SUFFIX } from './hook-channel.ts';
import { MAX_TEXT } from './limits.ts';

{
  const { apply, defineProperty, getOwnPropertyDescriptor } = Reflect;
  const { dispatchEvent, addEventListener } = EventTarget.prototype;
  const { slice } = String.prototype;
  const localName = getOwnPropertyDescriptor(Element.prototype, 'localName')!.get!;
  const PageProxy = Proxy;
  const PageError = Error;
  const PageCustomEvent = CustomEvent;
  const page = document;
  const listen = (name: string, listener: (event: Event) => void) =>
    apply(addEventListener, page, [name, listener, { once: true }]);

  let channel = '';
  listen(CHANNEL_EVENT, (event) => {
    channel = String((event as CustomEvent).detail);
    listen(channel + STOP_SUFFIX, () => {
      channel = '';
    });
    apply(dispatchEvent, page, [new PageCustomEvent(channel)]);
  });

  /** Readers of the objects that stand for a URL; each throws on anything but its own kind. */
  const urlReaders: (() => unknown)[] = [];
  const addReader = (prototype: object | undefined, name: string) => {
    const property = prototype && getOwnPropertyDescriptor(prototype, name);
    const reader = property?.get ?? property?.value;
    if (reader) urlReaders[urlReaders.length] = reader;
  };
  addReader(globalThis.Request?.prototype, 'url');
  addReader(globalThis.URL?.prototype, 'href');
  addReader(
    (globalThis as { TrustedScriptURL?: { prototype: object } }).TrustedScriptURL?.prototype,
    'toString',
  );

  /** The URL in an argument, without running the page's code (`toString`) for it. */
  const urlOf = (value: unknown): string => {
    if (typeof value === 'string') return value;
    for (let i = 0; i < urlReaders.length; i++) {
      try {
        return apply(urlReaders[i]!, value, []) as string;
      } catch {
        // Not of this kind; try the next.
      }
    }
    return '';
  };

  const note = (kind: AskKind, value: unknown) => {
    if (!channel) return;
    try {
      const url = urlOf(value);
      if (!url || url.length > MAX_TEXT) return;
      // Nothing is asked of the network; pages that draw set such URLs many times a second.
      const scheme = apply(slice, url, [0, 5]);
      if (scheme === 'data:' || scheme === 'blob:') return;
      // A page's own prepareStackTrace, inherited too, would be called with our frames: then go without.
      const stack =
        'prepareStackTrace' in PageError ? '' : apply(slice, new PageError().stack ?? '', [0, MAX_TEXT]);
      const init = { __proto__: null, detail: `${kind}\n${url}\n${stack}` } as CustomEventInit;
      apply(dispatchEvent, page, [new PageCustomEvent(channel, init)]);
    } catch {
      // Whatever it was, the page's call goes on.
    }
  };

  /** Replaces a function by one that looks the same and first passes its call to `before`. */
  const wrap = (
    holder: object | undefined,
    name: string,
    part: 'value' | 'set',
    before: (self: unknown, args: unknown[]) => void,
  ) => {
    const property = holder && getOwnPropertyDescriptor(holder, name);
    const original = property?.[part];
    if (!property?.configurable || !original) return;
    property[part] = new PageProxy(original, {
      // Without a prototype, so that the page cannot add traps by way of Object.prototype.
      __proto__: null,
      apply(target: (...args: unknown[]) => unknown, self: unknown, args: unknown[]) {
        before(self, args);
        return apply(target, self, args);
      },
    } as ProxyHandler<typeof original>);
    defineProperty(holder!, name, property);
  };

  /** An `<a href>` loads nothing. */
  const isLink = (element: unknown) => {
    try {
      return apply(localName, element, []) === 'link';
    } catch {
      return false;
    }
  };

  wrap(globalThis, 'fetch', 'value', (_self, args) => note('fetch', args[0]));
  wrap(globalThis.XMLHttpRequest?.prototype, 'open', 'value', (_self, args) => note('xhr', args[1]));

  const setters: [{ prototype: object } | undefined, string, AskKind][] = [
    [globalThis.HTMLImageElement, 'src', 'src'],
    [globalThis.HTMLImageElement, 'srcset', 'srcset'],
    [globalThis.HTMLSourceElement, 'src', 'src'],
    [globalThis.HTMLSourceElement, 'srcset', 'srcset'],
    [globalThis.HTMLScriptElement, 'src', 'src'],
    [globalThis.HTMLIFrameElement, 'src', 'src'],
    [globalThis.HTMLMediaElement, 'src', 'src'],
    [globalThis.HTMLLinkElement, 'href', 'src'],
  ];
  for (const [element, name, kind] of setters) {
    wrap(element?.prototype, name, 'set', (_self, args) => note(kind, args[0]));
  }
  wrap(Element.prototype, 'setAttribute', 'value', (self, args) => {
    const name = args[0];
    if (name === 'src') note('src', args[1]);
    else if (name === 'srcset') note('srcset', args[1]);
    else if (name === 'href' && isLink(self)) note('src', args[1]);
  });
}
