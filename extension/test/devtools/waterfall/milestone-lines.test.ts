import { Window } from 'happy-dom';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Milestone } from '../../../src/ui/milestones.ts';

let lines: typeof import('../../../src/devtools/waterfall/milestone-lines.ts');
beforeEach(async () => {
  vi.stubGlobal('document', new Window().document);
  lines = await import('../../../src/devtools/waterfall/milestone-lines.ts');
});
afterEach(() => vi.unstubAllGlobals());

const RANGE = { fromMs: 0, toMs: 1000 };
const MILESTONES: Milestone[] = [
  { kind: 'dcl', ms: 300 },
  { kind: 'fcp', ms: 280 },
  { kind: 'lcp', ms: 600 },
  { kind: 'load', ms: 1000 },
];

test('each milestone within the range has a line of its own look, those of the compared load a shorter one', () => {
  const range = { fromMs: 290, toMs: 1000 };
  const classes = lines.renderLines(MILESTONES, range).map(({ className }) => className);
  expect(classes).toEqual(['hw-line hw-line-dcl', 'hw-line hw-line-lcp', 'hw-line hw-line-load']);
  const [compared] = lines.renderLines([{ kind: 'fcp', ms: 500 }], RANGE, true);
  expect(compared!.className).toBe('hw-line hw-line-fcp hw-line-compared');
  expect(compared!.style.left).toBe('50%');
});

test('names stand beside their lines: one for lines that are close, and within the axis at its end', () => {
  // On 400 px FCP begins at 112 px and would end at 112 + 3 · 7 + 8 = 141, after DCL's line at 120; "Load" takes 4 · 7 + 8 = 36 px.
  expect(lines.labelMilestones(MILESTONES, RANGE, 400)).toEqual([
    { text: 'FCP DCL', leftPx: 112 },
    { text: 'LCP', leftPx: 240 },
    { text: 'Load', leftPx: 364 },
  ]);
});

test('a name at the end of the axis that would cover the one before is joined with it', () => {
  const close: Milestone[] = [
    { kind: 'lcp', ms: 900 },
    { kind: 'load', ms: 990 },
  ];
  // "LCP Load" takes 8 · 7 + 8 = 64 px.
  expect(lines.labelMilestones(close, RANGE, 400)).toEqual([{ text: 'LCP Load', leftPx: 336 }]);
  expect(lines.labelMilestones(close, RANGE, 63)).toEqual([]);
});
