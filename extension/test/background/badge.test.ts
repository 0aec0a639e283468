import { type Decision, EVERY_ORIGIN, type PinState } from '@hopwise/contract';
import { beforeEach, expect, test, vi } from 'vitest';
import { showBadge } from '../../src/background/badge.ts';
import { actionOf, decisionOf, LEAVE } from '../support/decisions.ts';
import { fetchMessages } from '../support/packaged-messages.ts';
import '../support/own-database.ts';

let text: string;
let title: string;

beforeEach(() => {
  text = 'before';
  title = '';
  const action = {
    setBadgeText: async (badge: { text: string }) => {
      text = badge.text;
    },
    setBadgeBackgroundColor: async () => undefined,
    setTitle: async (shown: { title: string }) => {
      title = shown.title.replaceAll('\u00a0', ' ');
    },
  };
  vi.stubGlobal('chrome', {
    action,
    i18n: { getUILanguage: () => 'en-GB' },
    runtime: { getURL: (path: string) => path },
  });
  vi.stubGlobal('fetch', fetchMessages);
});

const ORIGIN = 'https://a.example';
const withBaseline = (pltMs: number, laterPltMs = pltMs) => ({
  baseline: { ...decisionOf([LEAVE]).baseline, pltMs, laterPltMs },
});
/** An action with which the page takes `pltMs`, in place of `pltMs + gainMs`. */
const taking = (pltMs: number, gainMs = 4300 - pltMs) =>
  actionOf('avoid-h3', { [ORIGIN]: 'h2' }, { time: { pltMs, low: pltMs, high: pltMs }, gainMs });

const pinOf = (origin: string, state: PinState['state']): PinState => ({
  ...{ origin, state, kind: 'avoid-h3', persistent: false, expiresAtMs: null, reason: '' },
});

test.each<[string, Decision | null, string[], string]>([
  ['two seconds of four', decisionOf([taking(2300)]), [], '−2s'],
  // 5.55 s, and 10 s less 4.9 s as they are shown.
  ['times as they are rounded', decisionOf([taking(4900, 5550)], withBaseline(10_450)), [], '−5s'],
  ['less than a second', decisionOf([taking(3400)]), [], ''],
  ['less than a fifth', decisionOf([taking(11_000, 2000)], withBaseline(13_000)), [], ''],
  [
    'what a first visit does not show',
    decisionOf([taking(1300, -200)], withBaseline(1100, 12_300)),
    [],
    '−11s',
  ],
  [
    'what popup and panel show, though later visits gain more',
    decisionOf([taking(1300, 3100)], withBaseline(4400, 8300)),
    [],
    '−3s',
  ],
  ['what a first visit alone takes', decisionOf([taking(1300, 2000)], withBaseline(3300, 1300)), [], '−2s'],
  ['what is pinned already', decisionOf([taking(2300)]), [ORIGIN], ''],
  ['what is kept off on the whole network already', decisionOf([taking(2300)]), [EVERY_ORIGIN], ''],
  ['nothing to do', decisionOf([LEAVE]), [], ''],
  ['nothing known', null, [], ''],
])('shows a gain of %s', async (_what, decision, pinned, shown) => {
  const pins = pinned.flatMap((origin) => [pinOf(origin, 'active')]);
  await showBadge(1, decision, null, [...pins, pinOf(ORIGIN, 'waiting')]);
  expect(text).toBe(shown);
});

test('the tooltip says whether the gain is this visit’s or that of the next ones', async () => {
  await showBadge(1, decisionOf([taking(2300)]), null, []);
  expect(title).toBe('hopwise: this page takes about 4.3 s; it could take 2.3 s.');
  await showBadge(1, decisionOf([taking(1300, -200)], withBaseline(1100, 12_300)), null, []);
  expect(title).toBe(
    'hopwise: the next visits to this page take about 12 s by themselves; they could take 1.3 s.',
  );
});

test('the tooltip of an earlier gain goes with its number', async () => {
  await showBadge(1, decisionOf([taking(2300)]), null, []);
  await showBadge(1, decisionOf([LEAVE]), null, []);
  expect({ text, title }).toEqual({ text: '', title: '' });
});
