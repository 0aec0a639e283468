import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a page can find out about its own environment, by the name of the check. */
export type PageView = Record<string, unknown>;

export interface ViewSite {
  url: string;
  close(): Promise<void>;
}

/**
 * A page, with a frame of its own origin, whose first script runs all checks and leaves the result in `pageView`; and `times.html`,
 * whose first script measures times and leaves them in `pageTimes`.
 */
export async function startViewSite(): Promise<ViewSite> {
  const script = `<script>globalThis.pageView = (${takePageView})();</script>`;
  const page = `<!doctype html>${script}<img src="/a.png"><script src="/a.js"></script><iframe src="/frame.html"></iframe>`;
  const times = `<!doctype html><body><script>globalThis.pageTimes = (${takePageTimes})();</script>`;
  const server = createServer((request, response) => {
    const pages: Record<string, string> = {
      '/': page,
      '/frame.html': `<!doctype html>${script}`,
      '/times.html': times,
    };
    const body = pages[request.url ?? ''];
    const type = body ? 'text/html' : request.url === '/a.js' ? 'text/javascript' : 'text/plain';
    response.writeHead(200, { 'content-type': type }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Reads the result in the page: of the page and of its frame. */
export async function readPageViews(): Promise<PageView[]> {
  const { contentWindow } = document.querySelector<HTMLIFrameElement>('iframe[src]')!;
  const views = [globalThis, contentWindow] as unknown as { pageView: Promise<PageView> }[];
  return Promise.all(views.map(({ pageView }) => pageView));
}

/** Runs in the page, from its source text: it can use nothing from outside. */
async function takePageView(): Promise<PageView> {
  type Native = ((...args: unknown[]) => unknown) & { prototype?: object };
  const seen: unknown[] = [];
  const mutations: string[] = [];
  new MutationObserver((records) => {
    for (const { type, attributeName, addedNodes } of records) {
      mutations.push(`${type} ${attributeName} ${[...addedNodes].map((node) => node.nodeName)}`);
    }
  }).observe(document, { attributes: true, childList: true, subtree: true });
  addEventListener('message', ({ data }) => seen.push(['message', data]));

  /** Firefox creates globals and properties when they are first used, also by its own code: their order changes by itself. */
  const isLazy = CSS.supports('-moz-appearance', 'none');
  const keysOf = (holder: object): string[] => {
    const keys = Reflect.ownKeys(holder).map(String);
    return isLazy ? keys.sort() : keys;
  };

  /** Own properties in order, with their flags and, of functions, all that shows whether they are native. */
  const describe = (holder: object, foreign: (one: unknown) => string): unknown[] =>
    Reflect.ownKeys(holder).map((key) => {
      const property = Reflect.getOwnPropertyDescriptor(holder, key)!;
      const flags = [property.writable, property.enumerable, property.configurable];
      const parts = [property.get, property.set, property.value].map((one) =>
        typeof one === 'function'
          ? [one.name, one.length, Function.prototype.toString.call(one), foreign(one), keysOf(one)]
          : typeof one,
      );
      return [String(key), ...flags, ...parts];
    });
  const describeAll = (holder: object, foreign: (one: unknown) => string) => {
    const all = describe(holder, foreign).map((one) => JSON.stringify(one));
    return isLazy ? all.sort() : all;
  };

  /** The error of a call: of which realm and kind, message, and the functions on its stack. */
  const fail = async (call: () => unknown) => {
    try {
      await call();
      return 'no error';
    } catch (error) {
      const { name, message, stack } = error as Error;
      return [name, message, error instanceof Error, stack];
    }
  };

  const view: PageView = {};
  const blank = document.createElement('iframe');
  document.documentElement.append(blank);
  const realm = blank.contentWindow as unknown as typeof globalThis;
  const foreignText = (one: unknown) => realm.Function.prototype.toString.call(one);
  view.window = describeAll(globalThis, foreignText);
  view.blankFrame = describeAll(realm, foreignText);
  view.document = describeAll(document, foreignText);
  for (const name of keysOf(globalThis)) {
    const value = Reflect.getOwnPropertyDescriptor(globalThis, name)?.value as Native | undefined;
    const prototype = typeof value === 'function' ? value.prototype : undefined;
    if (prototype) view[`prototype of ${name}`] = describeAll(prototype, foreignText);
  }
  view.chrome = Object.keys((globalThis as { chrome?: object }).chrome ?? {});

  const { open } = XMLHttpRequest.prototype as unknown as { open: Native };
  const { setAttribute } = Element.prototype as unknown as { setAttribute: Native };
  const setterOf = (prototype: object, name: string) =>
    Reflect.getOwnPropertyDescriptor(prototype, name)!.set as unknown as Native;
  const natives: [string, Native][] = [
    ['fetch', fetch as unknown as Native],
    ['open', open],
    ['setAttribute', setAttribute],
    ['image src', setterOf(HTMLImageElement.prototype, 'src')],
    ['image srcset', setterOf(HTMLImageElement.prototype, 'srcset')],
    ['script src', setterOf(HTMLScriptElement.prototype, 'src')],
    ['iframe src', setterOf(HTMLIFrameElement.prototype, 'src')],
    ['media src', setterOf(HTMLMediaElement.prototype, 'src')],
    ['link href', setterOf(HTMLLinkElement.prototype, 'href')],
  ];
  for (const [name, native] of natives) {
    const target = {
      toString() {
        throw new Error('from an argument');
      },
    };
    view[name] = {
      hasPrototype: 'prototype' in native,
      wrongThis: await fail(() => native.call(1, '/', '/')),
      noArguments: await fail(() => native.call(name === 'fetch' ? undefined : new XMLHttpRequest())),
      construct: await fail(() => new (native as unknown as new () => unknown)()),
      reflectConstruct: await fail(() => Reflect.construct(native, [])),
      extend: await fail(() => class extends (native as unknown as new () => object) {}),
      clone: await fail(() => structuredClone(native)),
      // A proxy as the prototype of its own prototype is no cycle.
      cycle: await fail(() => Object.setPrototypeOf(native, Object.create(native))),
      callback: await fail(() => native.call(name === 'fetch' ? undefined : new Image(), target, target)),
    };
  }

  const stacks: unknown[] = [];
  class Watcher extends HTMLElement {
    static observedAttributes = ['src'];
    attributeChangedCallback() {
      stacks.push(new Error('from the page').stack);
    }
  }
  customElements.define('x-watcher', Watcher);
  document.createElement('x-watcher').setAttribute('src', '/a');
  const V8Error = Error as unknown as { stackTraceLimit?: number; prepareStackTrace?: unknown };
  const limit = V8Error.stackTraceLimit;
  V8Error.stackTraceLimit = 1;
  document.createElement('x-watcher').setAttribute('src', '/b');
  V8Error.stackTraceLimit = limit;
  V8Error.prepareStackTrace = (_: Error, callSites: unknown[]) => `${callSites.length}: ${callSites.join()}`;
  document.createElement('x-watcher').setAttribute('src', '/c');
  const plain = new Image();
  // Each frame has an image of its own: one that another frame has loaded may come from memory, and is then not listed.
  const frame = window === top ? 'outer' : 'inner';
  plain.src = `/d.png?${frame}`;
  delete V8Error.prepareStackTrace;
  view.stacks = stacks;
  view.errorKeys = keysOf(Error);

  // Everything that another script could call in the page's name.
  const calls: unknown[] = [];
  const restore: (() => void)[] = [];
  const spyOn = (holder: object, key: string) => {
    const property = Reflect.getOwnPropertyDescriptor(holder, key)!;
    const native = property.value as Native;
    Object.defineProperty(holder, key, {
      ...property,
      value(this: unknown, ...args: unknown[]) {
        calls[calls.length] = key;
        return native.apply(this, args);
      },
    });
    restore.push(() => Object.defineProperty(holder, key, property));
  };
  spyOn(EventTarget.prototype, 'dispatchEvent');
  spyOn(EventTarget.prototype, 'addEventListener');
  spyOn(globalThis, 'postMessage');
  spyOn(Reflect, 'apply');
  spyOn(String.prototype, 'slice');
  let conversions = 0;
  const counted = { toString: () => `/converted.png?${frame}${conversions++}` };
  const converted = new Image();
  // Also keeps the image, whose request ends when nothing refers to it any more.
  const imageEnd = new Promise((resolve) => {
    converted.onload = resolve;
    converted.onerror = resolve;
  });
  converted.src = counted as unknown as string;
  const request = new (class extends XMLHttpRequest {})();
  request.open('GET', counted as unknown as string);
  const answer = fetch(counted as unknown as string);
  view.promise = [Object.getPrototypeOf(answer) === Promise.prototype, answer === Promise.resolve(answer)];
  view.answer = [(await answer).constructor === Response, (await (await answer).text()).length];
  const controller = new AbortController();
  const reason = { of: 'the page' };
  const aborted = fetch('/aborted', { signal: controller.signal });
  controller.abort(reason);
  view.abort = (await aborted.catch((error) => error)) === reason;
  await new Promise((resolve) => request.addEventListener('loadend', resolve, void request.send()));
  await imageEnd;
  for (const undo of restore) undo();
  view.calls = calls;
  view.conversions = conversions;

  if (document.readyState !== 'complete') await new Promise((resolve) => addEventListener('load', resolve));
  // Firefox lists a resource some time after its load event.
  const isListed = (path: string) =>
    performance.getEntriesByType('resource').some(({ name }) => name.endsWith(path));
  const own = [`/d.png?${frame}`, ...[0, 1, 2].map((number) => `/converted.png?${frame}${number}`)];
  for (let waits = 0; waits < 500 && !own.every(isListed); waits++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  // A task after the load event, in which other listeners of it have run.
  await new Promise((resolve) => setTimeout(resolve, 0));
  view.seen = seen;
  view.mutations = mutations;
  view.attributes = document.documentElement.getAttributeNames();
  view.added = keysOf(globalThis);
  const entries = performance.getEntries().map(({ entryType, name }) => `${entryType} ${name}`);
  // An image that the preload scanner has found may be listed twice; whether an aborted request and the icon are, is by chance.
  view.entries = [...new Set(entries)]
    .filter((entry) => /^(mark|measure|resource)/.test(entry) && !/\/(aborted|favicon\.ico)$/.test(entry))
    .sort();
  return view;
}

/** Attributes that make elements request something. */
export const REQUESTING_ATTRIBUTES = ['src', 'srcset', 'href', 'data', 'poster'];

/**
 * How many times as long as where no observer of the document sees it (in a shadow tree) a change takes: the writes of an attribute, by
 * its name, and `children`, the insertion of elements after many others.
 */
export type PageTimes = Record<string, number>;

/** Reads the result in the page. */
export const readPageTimes = (): Promise<PageTimes> =>
  (globalThis as unknown as { pageTimes: Promise<PageTimes> }).pageTimes;

/** Runs in the page, from its source text: it can use nothing from outside. */
async function takePageTimes(): Promise<PageTimes> {
  const rounds = 10;
  const writes = 12_000;
  const open = document.body.appendChild(document.createElement('div'));
  const host = document.body.appendChild(document.createElement('div'));
  const hidden = host.attachShadow({ mode: 'open' }).appendChild(document.createElement('div'));
  /** Until all observers have received what has changed. */
  const measure = async (change: (place: Element, i: number) => void, place: Element) => {
    const startMs = performance.now();
    for (let i = 0; i < writes; i++) change(place, i);
    await null;
    return performance.now() - startMs;
  };
  // In turn, so that other work on the machine holds up all alike; the shortest times are those that it did not hold up.
  const compare = async (change: (place: Element, i: number) => void) => {
    const timesMs: { open: number; hidden: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      timesMs.push({ open: await measure(change, open), hidden: await measure(change, hidden) });
      open.replaceChildren();
      hidden.replaceChildren();
      await null;
    }
    return Math.min(...timesMs.map((each) => each.open)) / Math.min(...timesMs.map((each) => each.hidden));
  };
  const times: PageTimes = {};
  for (const name of ['title', 'src', 'lang', 'srcset', 'alt', 'href', 'data-a', 'data', 'name', 'poster'])
    times[name] = await compare((place, i) => place.setAttribute(name, `${i}`));
  const append = (place: Element) => place.append(document.createElement('p'));
  await measure(append, open);
  times.children = await compare(append);
  return times;
}
