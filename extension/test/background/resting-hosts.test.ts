import { beforeEach, expect, test, vi } from 'vitest';
import { RestingHosts } from '../../src/background/resting-hosts.ts';

/** The browser's registration of the light content script; null for none. */
let registered: { id: string; excludeMatches?: string[] } | null;
let alarms: Map<string, { delayInMinutes: number }>;
let ring: (alarm: { name: string }) => void;
let shownUrl: string;
let resting: RestingHosts;

beforeEach(() => {
  registered = { id: 'recorder' };
  alarms = new Map();
  shownUrl = 'https://page.test/a';
  vi.stubGlobal('chrome', {
    scripting: {
      getRegisteredContentScripts: async () => (registered === null ? [] : [registered]),
      updateContentScripts: async ([script]: [NonNullable<typeof registered>]) => {
        registered = script;
      },
    },
    alarms: {
      onAlarm: { addListener: (listener: typeof ring) => (ring = listener) },
      get: async (name: string) => alarms.get(name),
      create: async (name: string, when: { delayInMinutes: number }) => alarms.set(name, when),
      clear: async (name: string) => alarms.delete(name),
    },
    tabs: { get: async () => ({ url: shownUrl }) },
  });
  resting = new RestingHosts();
});

const list = () => registered?.excludeMatches ?? [];

test('pages of a resting host have no content script until the alarm', async () => {
  await resting.rest('page.test');
  await resting.rest('other.test');
  await resting.rest('page.test');
  expect(list()).toEqual(['*://other.test/*', '*://page.test/*']);
  expect([...alarms]).toEqual([['record-again', { delayInMinutes: 30 }]]);
  ring({ name: 'another' });
  ring({ name: 'record-again' });
  await vi.waitFor(() => expect(list()).toEqual([]));
  await vi.waitFor(() => expect(alarms.size).toBe(0));
});

test('the first that rests decides when all are recorded again', async () => {
  await resting.rest('page.test');
  alarms.set('record-again', { delayInMinutes: 3 });
  await resting.rest('other.test');
  expect(alarms.get('record-again')).toEqual({ delayInMinutes: 3 });
});

test('a host at which a person looks does not rest', async () => {
  await resting.rest('page.test');
  await resting.rest('other.test');
  await resting.watch(1);
  expect(list()).toEqual(['*://other.test/*']);
  await resting.rest('page.test');
  expect(list()).toEqual(['*://other.test/*']);
  vi.setSystemTime(Date.now() + 4_000);
  await resting.rest('page.test');
  vi.useRealTimers();
  expect(list()).toEqual(['*://other.test/*', '*://page.test/*']);
});

test('pages without a host are looked at too', async () => {
  shownUrl = '';
  await resting.watch(1);
  expect(list()).toEqual([]);
});

test('the oldest host makes room, and one without a pattern does not rest', async () => {
  for (let host = 0; host <= 100; host++) await resting.rest(`h${host}.test`);
  await resting.rest('[2001:db8::1]');
  expect(list()).toHaveLength(100);
  expect(list()[0]).toBe('*://h1.test/*');
});

test('where the script is not registered, nothing rests', async () => {
  registered = null;
  await resting.rest('page.test');
  await resting.wakeAll();
  expect(alarms.size).toBe(0);
});
