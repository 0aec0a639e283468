import { beforeEach, expect, test, vi } from 'vitest';
import { showBadge } from '../../src/background/badge.ts';
import { actionOf, decisionOf, LEAVE } from '../support/decisions.ts';

let text: string;

beforeEach(() => {
  text = 'before';
  const action = {
    setBadgeText: async (badge: { text: string }) => {
      text = badge.text;
    },
    setBadgeBackgroundColor: async () => undefined,
  };
  vi.stubGlobal('chrome', { action });
});

const ORIGIN = 'https://a.example';
const taking = (pltMs: number) =>
  actionOf('avoid-h3', { [ORIGIN]: 'h2' }, { time: { pltMs, low: pltMs, high: pltMs } });

test.each([
  ['two seconds of four', decisionOf([taking(2300)]), [], '−2s'],
  ['less than a second', decisionOf([taking(3400)]), [], ''],
  [
    'less than a fifth',
    decisionOf([taking(11_000)], { baseline: { ...decisionOf([LEAVE]).baseline, pltMs: 13_000 } }),
    [],
    '',
  ],
  ['what is pinned already', decisionOf([taking(2300)]), [ORIGIN], ''],
  ['nothing to do', decisionOf([LEAVE]), [], ''],
  ['nothing known', null, [], ''],
])('shows a gain of %s', async (_what, decision, pinned, shown) => {
  await showBadge(1, decision, pinned);
  expect(text).toBe(shown);
});
