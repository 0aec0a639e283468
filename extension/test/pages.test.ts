/** Popup and panel as whole pages, with answers of the worker that the test makes. */
import { readFileSync } from 'node:fs';
import type { Prediction } from '@hopwise/contract';
import { predict } from '@hopwise/pageload-emulator';
import { Window } from 'happy-dom';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AUTOPILOT_DEFAULTS, type AutopilotSettings } from '../src/autopilot/autopilot-settings.ts';
import type { PageRequest } from '../src/background/page-requests.ts';
import type { PinGain } from '../src/evidence/pin-outcomes.ts';
import type { IncompleteLoad } from '../src/messages/load-messages.ts';
import type { StoredLoad } from '../src/storage/loads.ts';
import type { SavedTime } from '../src/storage/saved-time.ts';
import { loadOf } from './evidence/stored-loads.ts';
import { actionOf, decisionOf } from './support/decisions.ts';
import { StubbedStorage } from './support/stubbed-storage.ts';

const A = 'https://page.test';

/** What the worker answers about the tab. */
let load: StoredLoad;
let incomplete: IncompleteLoad | null;
let pinGain: PinGain | null;
let saved: SavedTime;
let settings: AutopilotSettings;
/** URL of the tab. */
let tabUrl: string;
let isRecorded: boolean;
let reloads: unknown[];
let asked: PageRequest[];

function stub(body: string): void {
  const window = new Window({ url: 'chrome-extension://hopwise/page.html?tabId=7', width: 1200 });
  window.document.body.innerHTML = body;
  for (const name of ['document', 'location', 'requestAnimationFrame', 'Event'] as const)
    vi.stubGlobal(name, window[name]);
  vi.stubGlobal('window', window);
  // Packaged files; a page of the extension reads no others.
  vi.stubGlobal(
    'fetch',
    async (path: string) => new Response(readFileSync(new URL(`../src/${path}`, import.meta.url))),
  );
  vi.stubGlobal('chrome', {
    runtime: {
      getURL: (path: string) => path,
      getManifest: () => ({ optional_permissions: [] }),
      sendMessage: async (request: PageRequest) => {
        if (request.type === 'latest') {
          const answer = { ok: true, problem: '', canExportQueries: false, incomplete, pinGain };
          if (!isRecorded) return { ...answer, phase: 'none', loadId: null, load: null };
          return { ...answer, phase: 'recorded', loadId: load.id, load: request.brief ? null : load };
        }
        if (request.type === 'verification') return { ok: true, state: 'none' };
        if (request.type === 'saved-time') return { ok: true, saved };
        if (request.type === 'change-autopilot') settings = { ...settings, ...request.change };
        if (request.type === 'autopilot' || request.type === 'change-autopilot') {
          const network = { hindersUdp: null, keepsOffH3: false };
          return { ok: true, settings, runs: [], learned: [], network };
        }
        if (request.type === 'pin-outcomes') return { ok: true, outcomes: [] };
        if (request.type === 'pin') asked.push(request);
        const pins = asked
          .flatMap((request) => (request.type === 'pin' ? request.pins : []))
          .map((pin) => ({ ...pin, state: 'active', expiresAtMs: null, reason: '' }));
        return { ok: true, allowed: true, pins, caHosts: null, launcher: null, localOrigins: [] };
      },
    },
    i18n: { getUILanguage: () => 'en-GB' },
    storage: { local: new StubbedStorage(), session: new StubbedStorage() },
    permissions: {
      contains: async () => true,
      getAll: async () => ({ origins: ['https://*/*'] }),
      request: async () => true,
    },
    tabs: {
      get: async () => ({ id: 7, url: tabUrl }),
      reload: async (...args: unknown[]) => void reloads.push(args),
    },
  });
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
  reloads = [];
  asked = [];
  incomplete = null;
  pinGain = null;
  settings = AUTOPILOT_DEFAULTS;
  saved = { savedMs: 0, loads: 0, estimated: 0 };
  tabUrl = `${A}/`;
  isRecorded = true;
  const recorded = loadOf(1);
  const prediction: Prediction = {
    ...predict(recorded.recording, { waterfall: true }),
    decision: decisionOf([actionOf('avoid-h3', { [A]: 'h2' })]),
  };
  load = { ...recorded, prediction };
});

afterEach(() => {
  vi.clearAllTimers();
  vi.useRealTimers();
});

const PAGES: [string, string, () => Promise<unknown>][] = [
  ['popup', 'popup/popup.html', () => import('../src/popup/popup.ts')],
  ['panel', 'devtools/panel.html', () => import('../src/devtools/panel.ts')],
];

/** The body of a page of the extension. */
const bodyOf = (path: string) =>
  /<body>(.*)<\/body>/s.exec(readFileSync(new URL(`../src/${path}`, import.meta.url), 'utf8'))![1]!;

describe.each(PAGES)('the %s', (_name, path, open) => {
  const show = async () => {
    stub(bodyOf(path));
    await open();
    await vi.advanceTimersByTimeAsync(10);
  };
  const button = (words: string) =>
    [...document.querySelectorAll('button')].find(({ textContent }) => textContent === words);

  test('has the verdict with a button below it, which pins and reloads past the cache', async () => {
    await show();
    const headline = document.querySelector('.hw-headline')!;
    expect(headline.textContent!.replaceAll('\u00a0', ' ')).toBe('Could load in 2.3 s instead of 4.3 s.');
    expect(headline.parentElement!.contains(button('Make it faster')!)).toBe(true);
    button('Make it faster')!.click();
    await vi.advanceTimersByTimeAsync(10);
    expect(asked).toMatchObject([{ type: 'pin', pins: [{ origin: A, kind: 'avoid-h3' }] }]);
    expect(reloads).toEqual([[7, { bypassCache: true }]]);
  });

  test('shows the last full load in place of one from the cache, with a button that reloads without cache', async () => {
    incomplete = { kind: 'cached', networkRequests: 2, requests: 84, isReplaced: true };
    await show();
    expect(document.body.textContent).toContain(
      '2 of 84 requests came from the network; showing the last full load.',
    );
    button('Reload without cache')!.click();
    expect(reloads).toEqual([[7, { bypassCache: true }]]);
  });

  test('has what the load’s pins gained in place of the verdict', async () => {
    const savedMs = { low: 2300, high: 3100 };
    pinGain = { beforeMs: 4300, afterMs: 1540, beforeLoads: 2, afterLoads: 1, savedMs, effect: 'gains' };
    load = { ...load, pinned: { [A]: 'h2' } };
    await show();
    const words = '2.8× faster: 4.3 s → 1.5 s, measured.';
    for (const place of ['.hw-headline', '#announcement'])
      expect(document.querySelector(place)!.textContent!.replaceAll('\u00a0', ' ')).toBe(words);
    expect(document.body.textContent).not.toContain('Keep a.example off HTTP/3');
  });

  test('has no note about a full load', async () => {
    await show();
    expect(button('Reload without cache')).toBeUndefined();
  });
});

test.each([
  ['of a page without a recorded load', 'https://page.test/', 1],
  ['not of the browser’s own pages', 'chrome://settings/', 0],
])('the popup offers a reload %s', async (_words, url, count) => {
  isRecorded = false;
  tabUrl = url;
  stub(bodyOf('popup/popup.html'));
  await import('../src/popup/popup.ts');
  await vi.advanceTimersByTimeAsync(10);
  const buttons = [...document.querySelectorAll<HTMLElement>('main button')];
  expect(buttons).toHaveLength(count);
  for (const button of buttons) button.click();
  expect(reloads).toHaveLength(count);
});

test.each([
  [0, '25 s saved this week, in 4 loads.'],
  [1, 'About 25 s saved this week, in 4 loads (partly estimated).'],
])('the popup states what pins saved, of %i loads by an estimate', async (estimated, words) => {
  saved = { savedMs: 25_000, loads: 4, estimated };
  stub(bodyOf('popup/popup.html'));
  await import('../src/popup/popup.ts');
  await vi.advanceTimersByTimeAsync(10);
  expect(document.body.textContent!.replaceAll('\u00a0', ' ')).toContain(words);
});

describe('the popup’s switch for a site', () => {
  const show = async () => {
    stub(bodyOf('popup/popup.html'));
    await import('../src/popup/popup.ts');
    await vi.advanceTimersByTimeAsync(10);
    const label = [...document.querySelectorAll<HTMLElement>('label')].find(({ textContent }) =>
      textContent!.startsWith('Leave '),
    );
    return { label, input: label?.querySelector('input') };
  };

  test('leaves the site alone, and no longer', async () => {
    const other = { site: 'other.test', rule: 'leave' as const };
    settings = { ...settings, isOn: true, siteRules: [other, { site: 'page.test', rule: 'h2' }] };
    const { label, input } = await show();
    expect([label!.textContent, label!.hidden, input!.checked]).toEqual([
      'Leave page.test as it is',
      false,
      false,
    ]);
    input!.click();
    await vi.advanceTimersByTimeAsync(10);
    expect(settings.siteRules).toEqual([other, { site: 'page.test', rule: 'leave' }]);
    input!.click();
    await vi.advanceTimersByTimeAsync(10);
    expect([settings.siteRules, input!.checked]).toEqual([[other], false]);
  });

  test('also ends a rule of a wider site', async () => {
    settings = { ...settings, isOn: true, siteRules: [{ site: 'test', rule: 'leave' }] };
    const { input } = await show();
    expect(input!.checked).toBe(true);
    input!.click();
    await vi.advanceTimersByTimeAsync(10);
    expect(settings.siteRules).toEqual([]);
  });

  test('is hidden while the autopilot is off, and absent on the browser’s own pages', async () => {
    expect((await show()).label!.hidden).toBe(true);
    tabUrl = 'chrome://settings/';
    expect((await show()).label).toBeUndefined();
  });
});
