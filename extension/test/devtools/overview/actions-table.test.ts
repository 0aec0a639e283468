import type { Decision } from '@hopwise/contract';
import { Window } from 'happy-dom';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { actionOf, decisionOf, LEAVE } from '../../support/decisions.ts';

const [A, B] = ['https://a.example', 'https://b.example'];
let renderActions: (decision: Decision) => HTMLElement | null;

beforeEach(async () => {
  vi.stubGlobal('document', new Window().document);
  ({ renderActions } = await import('../../../src/devtools/overview/actions-table.ts'));
});
afterEach(() => vi.unstubAllGlobals());

function rowsOf(decision: Decision): string[][] {
  const rows = [...(renderActions(decision)?.querySelectorAll('tr') ?? [])];
  return rows.map(({ children }) =>
    [...children].map(({ textContent }) => textContent.replaceAll('\u00a0', ' ')),
  );
}

test('each action has a row: what it changes, its chances, what it needs', () => {
  const decision = decisionOf([
    actionOf('avoid-h3', { [A]: 'h2' }),
    actionOf('force-protocol', { [A]: 'h1', [B]: 'h1' }, { gain: -0.07, helps: 0.07, harms: 0.68 }),
    actionOf('force-protocol', { [A]: 'h1', [B]: 'h2' }, { gain: 0.001 }),
    actionOf('offer-h3', { [A]: 'h3', [B]: 'h3' }),
    LEAVE,
  ]);
  expect(rowsOf(decision)).toEqual([
    ['Action', 'Load time', 'Change', 'Faster', 'Slower', 'Needs'],
    ['Browser’s own choice', '4.3 s', '', '', '', ''],
    ['Keep a.example off HTTP/3', '2.3 s', '−47%', '97%', '1%', 'the helper'],
    ['Hold 2 origins to HTTP/1.1', '2.3 s', '+7%', '7%', '68%', 'the helper, its local CA'],
    ['Hold 2 origins each to its fastest version', '2.3 s', '0%', '97%', '1%', 'the helper, its local CA'],
    ['Offer HTTP/3 at 2 origins', '2.3 s', '−47%', '97%', '1%', 'your own server'],
  ]);
});

test('changes that are counted from later visits stand beside what these take', () => {
  const own = decisionOf([actionOf('avoid-h3', { [A]: 'h2' }, { gain: 0.258 })]);
  const withBaseline = (more: Partial<Decision['baseline']>) => ({
    ...own,
    baseline: { ...own.baseline, ...more },
  });
  // 2.3 s are 26% less than 3.1 s, and 47% less than 4.3 s.
  expect(rowsOf(withBaseline({ laterPltMs: 3100 })).slice(1)).toEqual([
    ['Browser’s own choice', '4.3 s', '', '', '', ''],
    ['Once HTTP/3 is known', '3.1 s', '', '', '', ''],
    ['Keep a.example off HTTP/3', '2.3 s', '−26%', '97%', '1%', 'the helper'],
  ]);
  for (const more of [{ laterPltMs: 6000 }, { laterPltMs: 3100, measured: true }])
    expect(rowsOf(withBaseline(more))).toHaveLength(3);
});

test('there is no table where nothing could be done', () => {
  expect(renderActions(decisionOf([LEAVE]))).toBeNull();
});
