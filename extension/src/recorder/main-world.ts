/**
 * The hook. Runs in the page's own world before its scripts and records which script requests which URL (fetch,
 * XMLHttpRequest, `src`, `srcset` and `href` of elements that load something). It keeps references to all
 * built-ins that it uses, so that it never calls what the page redefines; it stores nothing
 * where the page can reach it; its own failures never reach the page.
 */
import { CHANNEL_EVENT, type ScriptRequestKind, STOP_SUFFIX } from './hook-channel.ts';
import { MAX_TEXT_CHARS } from './limits.ts';

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

  /** Getters of the objects that represent a URL; each throws for an object of another kind. */
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

  /** Reads the URL in an argument without running the page's code (`toString`). */
  const urlOf = (value: unknown): string => {
    if (typeof value === 'string') return value;
    for (let i = 0; i < urlReaders.length; i++) {
      try {
        return apply(urlReaders[i]!, value, []) as string;
      } catch {
        // Of another kind: the next getter may match.
      }
    }
    return '';
  };

  const record = (kind: ScriptRequestKind, value: unknown) => {
    if (!channel) return;
    try {
      const url = urlOf(value);
      if (!url || url.length > MAX_TEXT_CHARS) return;
      // These do not use the network, and pages that draw set such URLs many times a second.
      const scheme = apply(slice, url, [0, 5]);
      if (scheme === 'data:' || scheme === 'blob:') return;
      // A prepareStackTrace of the page, own or inherited, would be called with these stack frames: then there is no stack.
      const stack =
        'prepareStackTrace' in PageError
          ? ''
          : apply(slice, new PageError().stack ?? '', [0, MAX_TEXT_CHARS]);
      const init = { __proto__: null, detail: `${kind}\n${url}\n${stack}` } as CustomEventInit;
      apply(dispatchEvent, page, [new PageCustomEvent(channel, init)]);
    } catch {
      // A failure here must not affect the page's call.
    }
  };

  /** Replaces a function by a proxy, which looks the same, that first passes the call to `before`. */
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
      // Without a prototype, so that the page cannot add traps through Object.prototype.
      __proto__: null,
      apply(target: (...args: unknown[]) => unknown, self: unknown, args: unknown[]) {
        before(self, args);
        return apply(target, self, args);
      },
    } as ProxyHandler<typeof original>);
    defineProperty(holder!, name, property);
  };

  /** Only a `<link href>` loads something, an `<a href>` does not. */
  const isLink = (element: unknown) => {
    try {
      return apply(localName, element, []) === 'link';
    } catch {
      return false;
    }
  };

  wrap(globalThis, 'fetch', 'value', (_self, args) => record('fetch', args[0]));
  wrap(globalThis.XMLHttpRequest?.prototype, 'open', 'value', (_self, args) => record('xhr', args[1]));

  const setters: [{ prototype: object } | undefined, string, ScriptRequestKind][] = [
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
    wrap(element?.prototype, name, 'set', (_self, args) => record(kind, args[0]));
  }
  wrap(Element.prototype, 'setAttribute', 'value', (self, args) => {
    const name = args[0];
    if (name === 'src') record('src', args[1]);
    else if (name === 'srcset') record('srcset', args[1]);
    else if (name === 'href' && isLink(self)) record('src', args[1]);
  });
}
