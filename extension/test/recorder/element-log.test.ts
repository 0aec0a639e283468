// @vitest-environment happy-dom
import { beforeEach, expect, test } from 'vitest';
import { ElementLog } from '../../src/recorder/element-log.ts';
import { findMaker } from '../../src/recorder/request-maker.ts';

const IMAGE = 'https://page.test/a.png';
const SCRIPT = 'https://page.test/a.js';

let log: ElementLog;
beforeEach(() => {
  log = new ElementLog();
  document.body.innerHTML = '';
});

function make<K extends keyof HTMLElementTagNameMap>(name: K, properties: Partial<HTMLElementTagNameMap[K]>) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) Object.defineProperty(made, key, { value });
  return made;
}

/** Mutations by a script, or by the parser where there is none. */
function insert(node: Node, script: HTMLScriptElement | null, sinceMs = 0) {
  document.body.append(node);
  const record = { type: 'childList', target: document.body, addedNodes: [node], nextSibling: null };
  log.add([record as unknown as MutationRecord], script, script === null, sinceMs);
}

const byScript = () => make('script', { src: SCRIPT });
const entry = (more: Partial<PerformanceResourceTiming> & { initiatorUrl?: string } = {}) =>
  ({ name: IMAGE, initiatorType: 'img', startTime: 50, ...more }) as PerformanceResourceTiming;

test('the current script made what is inserted, also below the inserted element', () => {
  const div = document.createElement('div');
  div.append(make('img', { src: `${IMAGE}#x` }));
  insert(div, byScript());
  expect(findMaker(entry(), log)).toEqual({ by: 'script', scriptUrl: SCRIPT });
});

test('without a current script the parser made it, and the first to insert a URL counts', () => {
  insert(make('img', { src: IMAGE }), null);
  insert(make('img', { src: IMAGE }), byScript());
  expect(findMaker(entry(), log)).toEqual({ by: 'parser', scriptUrl: null });
});

test('what was requested before its element was inserted is of an unknown script', () => {
  insert(make('img', { src: IMAGE }), byScript(), 60);
  expect(findMaker(entry({ startTime: 50 }), log)).toEqual({ by: 'script', scriptUrl: null });
});

test('an image without an element is a script’s; other requests without one are not judged', () => {
  expect(findMaker(entry(), log)).toEqual({ by: 'script', scriptUrl: null });
  expect(findMaker(entry({ initiatorType: 'link' }), log)).toBeNull();
});

test('a stylesheet or a fetch does not request by an element with the same URL', () => {
  insert(make('img', { src: IMAGE }), null);
  expect(findMaker(entry({ initiatorType: 'css' }), log)).toBeNull();
  expect(findMaker(entry({ initiatorType: 'fetch' }), log)).toBeNull();
});

test('initiatorUrl names the script where the browser has it', () => {
  expect(findMaker(entry({ initiatorUrl: SCRIPT, initiatorType: 'fetch' }), log)).toEqual({
    by: 'script',
    scriptUrl: SCRIPT,
  });
  expect(findMaker(entry({ initiatorUrl: document.URL, initiatorType: 'fetch' }), log)).toBeNull();
});

test('after 1,000 nodes of scripts nothing more is looked at, and an image without an element is not judged', () => {
  const list = document.createElement('div');
  for (let i = 0; i < 999; i++) list.append(make('img', { src: `${IMAGE}?${i}` }));
  insert(list, byScript());
  expect(log.isIncomplete).toBe(true);
  insert(make('img', { src: IMAGE }), byScript());
  expect(findMaker(entry(), log)).toBeNull();
  expect(findMaker(entry({ name: `${IMAGE}?998` }), log)).toEqual({ by: 'script', scriptUrl: SCRIPT });
});

test('the parser may insert more, but not without end', () => {
  for (let i = 0; i < 9_999; i++) insert(document.createTextNode('.'), null);
  expect(log.isIncomplete).toBe(false);
  insert(document.createTextNode('.'), null);
  expect(log.isIncomplete).toBe(true);
});

test('an element that has loaded what it was not inserted with was changed by a script', () => {
  const embed = make('embed', { src: 'https://page.test/before.html' });
  insert(embed, null);
  log.addLoaded(embed);
  const requested = (name: string) => findMaker(entry({ name, initiatorType: 'embed' }), log);
  expect(requested('https://page.test/before.html')).toEqual({ by: 'parser', scriptUrl: null });
  log.addLoaded(make('embed', { src: 'https://page.test/after.html' }));
  expect(requested('https://page.test/after.html')).toEqual({ by: 'script', scriptUrl: null });
});
