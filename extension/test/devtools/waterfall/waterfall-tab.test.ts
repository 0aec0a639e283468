import { type Decision, predict } from '@hopwise/pageload-emulator';
import { Window } from 'happy-dom';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { actionOf, decisionOf } from '../../support/decisions.ts';
import { largePage } from '../../support/large-page.ts';

let WaterfallTab: typeof import('../../../src/devtools/waterfall/waterfall-tab.ts').WaterfallTab;
beforeEach(async () => {
  const window = new Window();
  for (const name of ['document', 'ResizeObserver'] as const) vi.stubGlobal(name, window[name]);
  vi.stubGlobal('window', window);
  ({ WaterfallTab } = await import('../../../src/devtools/waterfall/waterfall-tab.ts'));
});
afterEach(() => vi.unstubAllGlobals());

const recording = largePage(30);
const prediction = predict(recording, { waterfall: true });
const ORIGIN = 'https://o1.page.test';

/** The chosen options of the selects, and the status, for a decision. */
function show(decision: Decision) {
  const { element } = new WaterfallTab(recording, { ...prediction, decision });
  const [main, compared] = [...element.querySelectorAll('select')].map(({ value }) => value);
  return { main, compared, status: element.querySelector('[role=status]')!.textContent };
}

test('beside the recorded load is at first the one over the recommended protocol', () => {
  const decision = decisionOf([actionOf('avoid-h3', { [ORIGIN]: 'h2' })]);
  expect(show(decision)).toMatchObject({
    main: 'recorded',
    compared: 'h2',
    status: expect.stringContaining('; As recorded → Predicted, HTTP/2.'),
  });
});

test.each([
  ['nothing is recommended', decisionOf([])],
  [
    'origins are moved to several protocols',
    decisionOf([actionOf('force-protocol', { [ORIGIN]: 'h1', b: 'h2' })]),
  ],
])('there is none where %s', (_words, decision) => {
  const { compared, status } = show(decision);
  expect(compared).toBe('');
  expect(status).not.toContain('→');
});
