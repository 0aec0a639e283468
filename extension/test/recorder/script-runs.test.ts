// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import { MAX_ENTRIES, MAX_SCRIPT_RUN_CHARS, MAX_TEXT_CHARS } from '../../src/recorder/limits.ts';
import { ScriptRunLog } from '../../src/recorder/script-runs.ts';

/** A load event at a script element; happy-dom knows no forced `async`, so the property is given. */
function loadOf(src: string, properties: Partial<HTMLScriptElement> = {}, attributes: string[] = []): Event {
  const script = document.createElement('script');
  for (const [name, value] of Object.entries({ src, async: false, ...properties })) {
    Object.defineProperty(script, name, { value });
  }
  for (const name of attributes) script.setAttribute(name, '');
  return { target: script, isTrusted: true } as unknown as Event;
}

function logged(...events: Event[]) {
  const log = new ScriptRunLog();
  for (const event of events) log.addLoadEvent(event, 2, 5);
  return log.runs;
}

test.each([
  ['a script in the markup', {}, [], { inserted: false, deferred: false }],
  ['an async script in the markup', { async: true }, ['async'], { inserted: false, deferred: false }],
  ['a script that a script created', { async: true }, [], { inserted: true, deferred: false }],
  ['a deferred script', { defer: true }, ['defer'], { inserted: false, deferred: true }],
  ['a module', { type: 'module' }, [], { inserted: false, deferred: true }],
  ['an async module', { type: 'module', async: true }, ['async'], { inserted: false, deferred: false }],
])('%s is recognised', (_, properties, attributes, recognised) => {
  expect(logged(loadOf('https://page.test/a.js#x', properties, attributes))).toEqual([
    { url: 'https://page.test/a.js', startMs: 2, endMs: 5, ...recognised },
  ]);
});

test('ignores other elements, synthetic events, and scripts not fetched over HTTP', () => {
  const synthetic = { ...loadOf('https://page.test/a.js'), isTrusted: false };
  const image = { target: document.createElement('img'), isTrusted: true } as unknown as Event;
  expect(logged(synthetic, image, loadOf('data:text/javascript,'), loadOf(''))).toEqual([]);
});

test('keeps no more than fits into one message', () => {
  const events = (length: number, url: string) => Array.from({ length }, () => loadOf(url));
  expect(logged(...events(MAX_ENTRIES + 1, 'https://page.test/a.js'))).toHaveLength(MAX_ENTRIES);
  const longest = 'https://page.test/'.padEnd(MAX_TEXT_CHARS, 'x');
  expect(logged(...events(1100, longest))).toHaveLength(MAX_SCRIPT_RUN_CHARS / MAX_TEXT_CHARS);
  expect(logged(loadOf(`${longest}x`))).toEqual([]);
});
