/** Popup and panel as whole pages, with answers of the worker that the test makes. */
import { readFileSync } from 'node:fs';
import { MESSAGE_VERSION, type Prediction } from '@hopwise/contract';
import { predict } from '@hopwise/pageload-emulator';
import { Window } from 'happy-dom';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { NetworkState } from '../src/autopilot/autopilot-messages.ts';
import { AUTOPILOT_DEFAULTS, type AutopilotSettings } from '../src/autopilot/settings/autopilot-settings.ts';
import type { PageRequest } from '../src/background/page-requests.ts';
import { countRequests } from '../src/devtools/count-requests.ts';
import type { PinGain } from '../src/evidence/pin-outcomes.ts';
import type { IncompleteLoad } from '../src/messages/load-messages.ts';
import type { StoredLoad } from '../src/storage/loads.ts';
import type { SavedTime } from '../src/storage/saved-time.ts';
import { loadOf } from './evidence/stored-loads.ts';
import { actionOf, decisionOf, LEAVE } from './support/decisions.ts';
import { fetchMessages } from './support/packaged-messages.ts';
import { StubbedStorage } from './support/stubbed-storage.ts';

// Without the timers of IndexedDB in memory, as these tests set the clock.
vi.mock('../src/storage/own-storage.ts', async () => {
  const { StubbedStorage } = await import('./support/stubbed-storage.ts');
  return { ownStorage: new StubbedStorage() };
});

const A = 'https://page.test';

/** What the worker answers about the tab. */
let load: StoredLoad;
let incomplete: IncompleteLoad | null;
let pinGain: PinGain | null;
let saved: SavedTime;
let network: NetworkState;
let settings: AutopilotSettings;
/** URL of the tab; null where it is closed. */
let tabUrl: string | null;
let isRecorded: boolean;
/** Whether the worker answers what it shows of the tab. */
let answers: boolean;
let hasHelper: boolean;
let excludedSites: string[];
let openedTabs: unknown[];
let reloads: unknown[];
let asked: PageRequest[];

function stub(body: string): void {
  const window = new Window({ url: 'chrome-extension://hopwise/page.html?tabId=7', width: 1200 });
  window.document.body.innerHTML = body;
  for (const name of [
    'document',
    'location',
    'requestAnimationFrame',
    'Event',
    'HTMLButtonElement',
    'ResizeObserver',
  ] as const)
    vi.stubGlobal(name, window[name]);
  vi.stubGlobal('window', window);
  // What the panel's emulation would add comes later than these tests look.
  vi.stubGlobal(
    'Worker',
    class extends window.EventTarget {
      postMessage(): void {}
    },
  );
  vi.stubGlobal('fetch', fetchMessages);
  vi.stubGlobal('chrome', {
    runtime: {
      getURL: (path: string) => path,
      getManifest: () => ({ optional_permissions: [] }),
      connectNative: () => connectNative(() => hasHelper),
      sendMessage: async (request: PageRequest) => {
        if (request.type === 'settings') return { ok: true, settings: { excludedSites } };
        if (request.type === 'change-settings') {
          excludedSites = request.change.excludedSites!;
          return { ok: true };
        }
        if (request.type === 'latest') {
          if (!answers) return new Promise(() => {});
          const answer = { ok: true, problem: '', canExportQueries: false, incomplete, pinGain };
          if (!isRecorded) return { ...answer, phase: 'none', loadId: null, load: null };
          return { ...answer, phase: 'recorded', loadId: load.id, load: request.brief ? null : load };
        }
        if (request.type === 'verification') return { ok: true, state: 'none' };
        if (request.type === 'saved-time') return { ok: true, saved };
        if (request.type === 'change-autopilot') settings = { ...settings, ...request.change };
        if (request.type === 'autopilot' || request.type === 'change-autopilot') {
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
    storage: { session: new StubbedStorage() },
    permissions: {
      contains: async () => true,
      getAll: async () => ({ origins: ['https://*/*'] }),
      request: async () => true,
      onAdded: { addListener: () => {} },
      onRemoved: { addListener: () => {} },
    },
    tabs: {
      get: async () => {
        if (tabUrl === null) throw new Error('No tab with id: 7.');
        return { id: 7, url: tabUrl };
      },
      create: async (tab: unknown) => void openedTabs.push(tab),
      reload: async (...args: unknown[]) => void reloads.push(args),
    },
  });
}

/** A port to a helper that is there, or that the browser does not find. */
function connectNative(isThere: () => boolean) {
  let receive = (_message: unknown) => {};
  return {
    postMessage: ({ id }: { id: string }) => {
      if (isThere()) receive({ ...HELLO, id });
    },
    disconnect: () => {},
    onMessage: {
      addListener: (listener: (message: unknown) => void) => {
        receive = listener;
      },
    },
    onDisconnect: {
      addListener: (listener: (port: object) => void) => {
        const error = { message: 'Specified native messaging host not found.' };
        if (!isThere()) queueMicrotask(() => listener({ error }));
      },
    },
  };
}

const HELLO = {
  type: 'hello',
  version: MESSAGE_VERSION,
  hostVersion: '0.1.0',
  launcher: '/usr/bin/hopwise-host',
  engine: 'libcurl/8.14.1',
  http3: true,
  problem: '',
};

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
  reloads = [];
  asked = [];
  incomplete = null;
  pinGain = null;
  settings = AUTOPILOT_DEFAULTS;
  network = { slowsH3: false, isSuspected: false, keepsOffH3: false };
  saved = { savedMs: 0, loads: 0, estimated: 0, uncompared: 0 };
  tabUrl = `${A}/`;
  isRecorded = true;
  answers = true;
  hasHelper = true;
  excludedSites = [];
  openedTabs = [];
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
    const FOLLOWING = 4;
    expect(headline.compareDocumentPosition(button('Make it faster')!)).toBe(FOLLOWING);
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
    // 4.3 by 1.5, as it is shown, rather than 4300 by 1540.
    const words = '2.9× faster: 4.3 s → 1.5 s, measured.';
    for (const place of ['.hw-headline', '#announcement'])
      expect(document.querySelector(place)!.textContent!.replaceAll('\u00a0', ' ')).toBe(words);
    expect(document.body.textContent).not.toContain('Keep a.example off HTTP/3');
  });

  test.each([
    [2400, 'Could load in 2.4 s instead of 4.3 s.', false],
    [3300, 'Could load in 3.3 s instead of 4.3 s.', true],
  ])(
    'has what the pins in force promise, %d ms, and offers another action only where it gains more',
    async (pltMs, headline, isOffered) => {
      const time = { pltMs, low: pltMs, high: pltMs };
      const made = actionOf('avoid-h3', { [A]: 'h2' }, { time, gainMs: 4300 - pltMs });
      const decision = decisionOf([actionOf('force-protocol', { [A]: 'h1' }), made]);
      load = { ...load, prediction: { ...load.prediction!, decision } };
      asked = [{ type: 'pin', pins: [{ origin: A, kind: 'avoid-h3' }], minutes: null, persistent: false }];
      await show();
      for (const place of ['.hw-headline', '#announcement'])
        expect(document.querySelector(place)!.textContent!.replaceAll('\u00a0', ' ')).toContain(headline);
      expect(document.querySelector<HTMLElement>('.hw-action')!.hidden).toBe(!isOffered);
    },
  );

  test('has no note about a full load', async () => {
    await show();
    expect(button('Reload without cache')).toBeUndefined();
  });

  test.each([
    ['a page without a recorded load', 'https://page.test/', 'Not measured yet', 'Reload this page', 1],
    ['the browser’s own pages', 'chrome://settings/', 'Not a web page', 'First steps', 0],
  ])('names the state of %s, with what to do', async (_words, url, name, action, count) => {
    isRecorded = false;
    tabUrl = url;
    await show();
    expect(document.querySelector('#content h2')!.textContent).toBe(name);
    const [first] = document.querySelectorAll<HTMLElement>('#content button');
    expect(first!.textContent).toBe(action);
    first!.click();
    expect(reloads).toHaveLength(count);
    expect(openedTabs).toHaveLength(1 - count);
  });

  test('names the state of a load without a prediction, with what to do', async () => {
    load = { ...load, prediction: null, problem: 'No request was recorded.' };
    await show();
    expect(document.querySelector('.hw-empty h2')!.textContent).toBe('No prediction for this load');
    expect(document.querySelector('#content')!.textContent).toContain('No request was recorded.');
    button('Reload this page')!.click();
    expect(reloads).toHaveLength(1);
  });

  test('records an excluded site again on request, and reloads', async () => {
    isRecorded = false;
    excludedSites = ['page.test', 'other.test'];
    await show();
    expect(document.querySelector('#content h2')!.textContent).toBe('Excluded');
    document.querySelector<HTMLElement>('#content button')!.click();
    await vi.advanceTimersByTimeAsync(10);
    expect(excludedSites).toEqual(['other.test']);
    expect(reloads).toHaveLength(1);
  });
});

test('the panel of a tab that is closed says so, and offers to open a file', async () => {
  isRecorded = false;
  tabUrl = null;
  stub(bodyOf('devtools/panel.html'));
  await import('../src/devtools/panel.ts');
  await vi.advanceTimersByTimeAsync(10);
  expect(document.querySelector('#content h2')!.textContent).toBe('This tab is closed');
  expect(document.querySelector('#content button')!.textContent).toBe('Open file');
});

test.each([true, false])(
  'the panel says where the recorded load is not understood (%j)',
  async (understood) => {
    load = { ...load, prediction: { ...load.prediction!, fit: { ...load.prediction!.fit, understood } } };
    stub(bodyOf('devtools/panel.html'));
    await import('../src/devtools/panel.ts');
    await vi.advanceTimersByTimeAsync(10);
    expect(document.querySelector('.hw-doubt')?.textContent).toBe(
      understood ? undefined : 'Doubtful: the recorded load is not understood.',
    );
  },
);

test('requests are counted alike in all tabs: those listed, and those that predictions are about', () => {
  const { recording } = load;
  const page = { ...load.prediction!.page, requests: 2 };
  expect(countRequests(recording, { ...load.prediction!, page })).toBe(
    `${recording.requests.length} requests, 2 of them before the load event`,
  );
  expect(countRequests(recording, null)).toBe(`${recording.requests.length} requests`);
});

const NOT_COUNTED = 'Not counted: 3 loads of pages that were not loaded here without pins.';

test.each([
  [{ savedMs: 25_000, loads: 4 }, '25 s saved this week, in 4 loads.'],
  [{ savedMs: 25_000, loads: 4, estimated: 1 }, 'About 25 s saved this week, in 4 loads (partly estimated).'],
  [{ savedMs: 25_000, loads: 4, uncompared: 3 }, `25 s saved this week, in 4 loads. ${NOT_COUNTED}`],
  [{ savedMs: -900, loads: 1, uncompared: 3 }, `No time saved this week so far. ${NOT_COUNTED}`],
])('the popup states what pins saved (%j)', async (some, words) => {
  saved = { ...saved, ...some };
  stub(bodyOf('popup/popup.html'));
  await import('../src/popup/popup.ts');
  await vi.advanceTimersByTimeAsync(10);
  expect(document.body.textContent!.replaceAll('\u00a0', ' ')).toContain(words);
});

test.each([
  [{}, null],
  [{ isSuspected: true }, 'HTTP/3 is held back at a site here; the network may be the cause.'],
  [{ slowsH3: true, isSuspected: true }, 'This network holds HTTP/3 back: it hinders UDP.'],
  [{ keepsOffH3: true, isSuspected: true }, 'HTTP/3 is kept off on this network.'],
])('the popup says what the network does (%j)', async (some, words) => {
  network = { ...network, ...some };
  stub(bodyOf('popup/popup.html'));
  await import('../src/popup/popup.ts');
  await vi.advanceTimersByTimeAsync(10);
  const element = document.querySelector<HTMLElement>('.hw-network-switch')!;
  expect(element.hidden ? null : element.querySelector('span')!.textContent).toBe(words);
});

test.each([
  [{}, 'This page'],
  // Of a page that shares a server with a pinned one: the time shown is what it would take by itself.
  [{ 'https://shared.example': 'h2' as const }, 'Without hopwise'],
])(
  'the popup names the load time of a page that is left as it is, after a load with the pins %j',
  async (pinned, name) => {
    load = { ...load, pinned, prediction: { ...load.prediction!, decision: decisionOf([LEAVE]) } };
    stub(bodyOf('popup/popup.html'));
    await import('../src/popup/popup.ts');
    await vi.advanceTimersByTimeAsync(10);
    expect([...document.querySelectorAll('.hw-load-bars dt')].map(({ textContent }) => textContent)).toEqual([
      name,
    ]);
  },
);

test.each([
  ['the load’s pins do enough', 'gains' as const, 2000, '–'],
  ['they are to be undone', 'harms' as const, 6000, '–'],
  ['more loads are to show what they do', 'unclear' as const, 4300, 'avoid HTTP/3'],
])('the popup says what is left to do at an origin where %s', async (_words, effect, afterMs, left) => {
  const savedMs = { low: 0, high: 0 };
  pinGain = { beforeMs: 4300, afterMs, beforeLoads: 2, afterLoads: 1, savedMs, effect };
  stub(bodyOf('popup/popup.html'));
  await import('../src/popup/popup.ts');
  await vi.advanceTimersByTimeAsync(10);
  expect(document.querySelector('.hw-origins tbody td')!.textContent).toBe(left);
});

test('the popup says what the helper is to be installed for where only a verification can tell', async () => {
  hasHelper = false;
  const hope = { ...actionOf('avoid-h3', { [A]: 'h2' }), sure: false };
  const unsure = { ...decisionOf([hope]), kind: 'unsure' as const };
  load = { ...load, prediction: { ...load.prediction!, decision: unsure } };
  stub(bodyOf('popup/popup.html'));
  await import('../src/popup/popup.ts');
  await vi.advanceTimersByTimeAsync(2000);
  expect(document.querySelector('.hw-to-verify')!.textContent).toBe(
    'Install the helperNeeds the helper, a small program beside the browser.',
  );
});

test.each([
  [[], true],
  [[{ kind: 'verification' as const, text: '' }], false],
])('the popup asks first for a verification where there was none (%j)', async (evidence, isFirst) => {
  const hope = { ...actionOf('avoid-h3', { [A]: 'h2' }), sure: false };
  const unsure = decisionOf([LEAVE, hope], { kind: 'unsure', evidence });
  load = { ...load, prediction: { ...load.prediction!, decision: unsure } };
  stub(bodyOf('popup/popup.html'));
  await import('../src/popup/popup.ts');
  await vi.advanceTimersByTimeAsync(2000);
  expect(document.querySelectorAll('.hw-to-verify button').length > 0).toBe(isFirst);
  const advice = { true: 'verify first', false: 'not settled' }[`${isFirst}`];
  expect(document.querySelector('.hw-origins tbody td')!.textContent).toBe(advice);
});

describe('the popup’s one switch', () => {
  const show = async () => {
    stub(bodyOf('popup/popup.html'));
    await import('../src/popup/popup.ts');
    await vi.advanceTimersByTimeAsync(10);
    const label = document.querySelector<HTMLElement>('#autopilot label')!;
    const input = label.querySelector('input')!;
    const click = async () => {
      input.click();
      await vi.advanceTimersByTimeAsync(10);
    };
    return { words: () => label.textContent, input, click };
  };

  test('turns the autopilot on for all pages, and then leaves the site alone, and no longer', async () => {
    const rules = [
      { site: 'other.test', rule: 'leave' as const },
      { site: 'page.test', rule: 'h2' as const },
    ];
    settings = { ...settings, siteRules: rules };
    const { words, input, click } = await show();
    expect([words(), input.checked]).toEqual(['Let hopwise make pages faster by itself', false]);
    await click();
    expect([words(), input.checked, settings.isOn]).toEqual(['Autopilot on page.test', true, true]);
    expect(settings.siteRules).toEqual(rules);
    await click();
    expect([input.checked, settings.isOn]).toEqual([false, true]);
    expect(settings.siteRules).toEqual([rules[0], { site: 'page.test', rule: 'leave' }]);
    await click();
    expect([settings.siteRules, input.checked]).toEqual([[rules[0]], true]);
  });

  test('also ends a rule of a wider site', async () => {
    settings = { ...settings, isOn: true, siteRules: [{ site: 'test', rule: 'leave' }] };
    const { input, click } = await show();
    expect(input.checked).toBe(false);
    await click();
    expect(settings.siteRules).toEqual([]);
  });

  test('is that for all pages on the browser’s own', async () => {
    tabUrl = 'chrome://settings/';
    settings = { ...settings, isOn: true };
    const { words, input } = await show();
    expect([words(), input.checked]).toEqual(['Let hopwise make pages faster by itself', true]);
  });

  test('says in red that the autopilot can do nothing without the helper, until it is there', async () => {
    settings = { ...settings, isOn: true };
    hasHelper = false;
    await show();
    const warning = () => document.querySelector('#autopilot .hw-error')!.textContent;
    expect(warning()).toBe('The autopilot can do nothing: the helper is missing. Install the helper');
    hasHelper = true;
    await vi.advanceTimersByTimeAsync(2000);
    expect(warning()).toBe('');
  });
});

test('the popup shows a skeleton until it is answered, and what to try when it is refused', async () => {
  expect(bodyOf('popup/popup.html')).toContain('aria-busy="true"');
  answers = false;
  stub(bodyOf('popup/popup.html'));
  await import('../src/popup/popup.ts');
  await vi.advanceTimersByTimeAsync(10);
  const content = document.getElementById('content')!;
  expect(content.getAttribute('aria-busy')).toBe('true');
  expect(content.querySelectorAll('.hw-skeleton').length).toBeGreaterThan(2);
  expect(content.textContent).toBe('Working out what would help …');
});
