import type { ServerAdvice } from '@hopwise/pageload-emulator';
import { Window } from 'happy-dom';
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => vi.unstubAllGlobals());

const advice = (kind: ServerAdvice['kind'], gain: number): ServerAdvice => ({
  kind,
  gain,
  effort: 1,
  visit: 'first',
  helps: 0.8,
  harms: 0.05,
  proof: { kept: 3, cells: 4 },
  origins: [{ origin: 'https://page.test', gain }],
  networks: [],
});

test.each([
  ['several changes', [advice('offer-h3', 0.12), advice('bbr', 0.04)], 0.15, '15% less'],
  [
    'changes that gain less together than one of them',
    [advice('bbr', 0.62), advice('https-record', 0.23)],
    0.23,
    'First visits could take 62% less time with one of these changes, 23% less with all of them.',
  ],
  ['one change', [advice('bbr', 0.04)], null, '4% less'],
])('the headline over %s has their gain, and each is named once', async (_, list, together, gain) => {
  const window = new Window();
  vi.stubGlobal('window', window);
  vi.stubGlobal('document', window.document);
  const { renderAdvice } = await import('../../../src/devtools/servers/advice-view.ts');
  const shown = renderAdvice(
    { advice: list, together, needsHttps: false, owned: ['https://page.test'] },
    false,
  );
  expect(shown[0]!.textContent).toContain(gain);
  const names = [...shown.at(-1)!.querySelectorAll('strong')].map((name) => name.textContent);
  expect(names).toHaveLength(list.length);
  const text = shown.map((each) => each.textContent).join('\n');
  for (const name of names) expect(text.split(name!)).toHaveLength(2);
});

test.each([
  [false, 'No change that lab tests have confirmed saves 2% or more.'],
  [true, 'No change at these servers saves 2% or more.'],
])('without a change it says which were tried (unproven: %s), and where', async (unproven, headline) => {
  const window = new Window();
  vi.stubGlobal('window', window);
  vi.stubGlobal('document', window.document);
  const { renderAdvice } = await import('../../../src/devtools/servers/advice-view.ts');
  const list = { advice: [], together: null, needsHttps: false, owned: ['https://a.test', 'https://b.test'] };
  const shown = renderAdvice(list, unproven).map((each) => each.textContent);
  expect(shown).toEqual([headline, 'Tried at a.test and b.test.']);
});
