import { beforeEach, expect, test, vi } from 'vitest';
import { DetailedPages } from '../../src/background/detailed-pages.ts';
import { ownStorage } from '../../src/storage/own-storage.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';
import '../support/own-database.ts';

/** Patterns of the content script for detailed recordings; null where it is not registered. */
let patterns: string[] | null;
let nowMs: number;

beforeEach(() => {
  patterns = null;
  nowMs = 1e12;
  vi.spyOn(Date, 'now').mockImplementation(() => nowMs);
  const register = async ([script]: { matches: string[] }[]) => {
    patterns = script!.matches;
  };
  vi.stubGlobal('chrome', {
    webRequest: {},
    storage: { session: new StubbedStorage() },
    scripting: {
      getRegisteredContentScripts: async () => (patterns === null ? [] : [{}]),
      registerContentScripts: register,
      updateContentScripts: register,
      unregisterContentScripts: async () => {
        patterns = null;
      },
    },
  });
});

const page = (number: number) => `https://site${number}.test/page?q=${number}`;

test('a wanted page is recorded in detail once, whatever its query string', async () => {
  const pages = new DetailedPages();
  await pages.want('https://site.test:8443/a?b=1');
  expect(pages.has('https://site.test:8443/a?b=2')).toBe(true);
  expect(pages.has('https://site.test:8443/')).toBe(false);
  expect(patterns).toEqual(['https://site.test/a*']);
  await pages.noteLoad('https://site.test:8443/a?b=3', false);
  expect(pages.has('https://site.test:8443/a?b=2')).toBe(true);
  await pages.noteLoad('https://site.test:8443/a?b=3', true);
  expect(pages.has('https://site.test:8443/a?b=2')).toBe(false);
  expect(patterns).toBeNull();
});

test('the next worker knows the pages', async () => {
  await new DetailedPages().want(page(1));
  const next = new DetailedPages();
  await next.ready;
  expect(next.has(page(1))).toBe(true);
});

test('of a day of 200 loads of 40 pages, each of which leaves a question open, fewer than one in eight are recorded in detail', async () => {
  const pages = new DetailedPages();
  let detailed = 0;
  for (let load = 0; load < 200; load++) {
    const url = page(load % 40);
    const isDetailed = pages.has(url);
    detailed += Number(isDetailed);
    await pages.noteLoad(url, isDetailed);
    if (!isDetailed) await pages.wantIfRare(url);
  }
  expect(detailed).toBeGreaterThan(10);
  expect(detailed).toBeLessThan(25);
});

test('what a person looks at does not wait for its share', async () => {
  const pages = new DetailedPages();
  for (let number = 0; number < 10; number++) await pages.want(page(number));
  expect(pages.has(page(9))).toBe(true);
});

test('pages that are not loaded again are given up', async () => {
  const pages = new DetailedPages();
  await pages.want(page(1));
  nowMs += 4 * 24 * 3_600_000;
  await pages.want(page(2));
  expect([pages.has(page(1)), pages.has(page(2))]).toEqual([false, true]);
  for (let number = 3; number < 40; number++) await pages.want(page(number));
  expect(pages.has(page(2))).toBe(false);
  await pages.forget((url) => url.startsWith('https://site39.'));
  expect(pages.has(page(39))).toBe(false);
});

test('the setting has every page recorded in detail', async () => {
  const pages = new DetailedPages();
  await pages.ready;
  await ownStorage.set({ settings: { recordsInDetail: true } });
  await pages.update();
  expect(pages.has(page(1))).toBe(true);
  expect(patterns).toEqual(['http://*/*', 'https://*/*']);
});

test('without the permission no page is recorded in detail, even where the user asks for it', async () => {
  Reflect.deleteProperty(chrome, 'webRequest');
  await ownStorage.set({ settings: { recordsInDetail: true } });
  const pages = new DetailedPages();
  await pages.ready;
  await pages.want(page(1));
  await pages.wantIfRare(page(2));
  await pages.update();
  expect([pages.isForAll, pages.has(page(1)), pages.has(page(2)), patterns]).toEqual([
    false,
    false,
    false,
    null,
  ]);
});
