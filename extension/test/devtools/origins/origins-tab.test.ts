import { predict } from '@hopwise/pageload-emulator';
import { Window } from 'happy-dom';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { gatherOriginFacts } from '../../../src/devtools/emulation/origin-facts.ts';
import type { OriginsTab } from '../../../src/devtools/origins/origins-tab.ts';
import { loadOf } from '../../evidence/stored-loads.ts';
import { actionOf, decisionOf } from '../../support/decisions.ts';

const A = 'https://page.test';
const OTHER = 'https://cdn.test';
let Tab: typeof OriginsTab;

beforeEach(async () => {
  vi.stubGlobal('document', new Window().document);
  ({ OriginsTab: Tab } = await import('../../../src/devtools/origins/origins-tab.ts'));
});
afterEach(() => vi.unstubAllGlobals());

function draw(
  origins: string[],
  isSettled: boolean,
  decided = true,
): { action: string; hint: string; times: string[] } {
  const load = loadOf(1);
  const assignment = Object.fromEntries(origins.map((origin) => [origin, 'h1' as const]));
  const predicted = predict(load.recording);
  const prediction = {
    ...predicted,
    origins: predicted.origins.map((origin) => ({
      ...origin,
      decided,
      pltMs: { h1: 2000, h2: 3000, h3: 3010 },
    })),
    decision: decisionOf([actionOf('force-protocol', assignment)]),
  };
  const facts = gatherOriginFacts(load.recording);
  const emulation = {
    askOrigins: (onAnswer: (answer: { kind: 'origins'; id: number; origins: typeof facts }) => void) =>
      onAnswer({ kind: 'origins', id: 1, origins: facts }),
  };
  const tab = new Tab(load, prediction, emulation, () => null, null);
  tab.draw(isSettled);
  const textOf = (selector: string) =>
    tab.element.querySelector(selector)!.textContent!.replaceAll('\u00a0', ' ');
  const times = [...tab.element.querySelectorAll('tbody tr:first-child .hw-unsure')].map(({ textContent }) =>
    textContent.replaceAll('\u00a0', ' '),
  );
  return { action: textOf('tbody .hw-origin-action'), hint: textOf('.hw-origins-hint'), times };
}

test.each([
  ['one server', [A], 'hold to HTTP/1.1, saves 2.0 s', false],
  ['several servers', [A, OTHER], 'hold to HTTP/1.1, saves 2.0 s together', true],
])('advice for %s says whether one of them alone may do otherwise', (_words, origins, action, hasHint) => {
  const drawn = draw(origins, false);
  expect(drawn.action).toBe(action);
  expect(drawn.hint.includes('“Together”: when all servers with this advice follow it')).toBe(hasHint);
});

test('there is no advice beside pins that do enough', () => {
  const { action, hint } = draw([A, OTHER], true);
  expect(action).toBe('–');
  expect(hint).not.toContain('Together');
});

test('times that differ from the browser’s own, but not surely, are pale, and said to be so', () => {
  // Its own is HTTP/2 with 3 s; 10 ms more is less than 1%.
  expect(draw([A], false, false).times).toEqual(['−1.0 s (not sure)']);
  expect(draw([A], false, true).times).toEqual([]);
});
