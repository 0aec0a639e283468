import { expect, test } from 'vitest';
import { outcomeOf, summaryLines } from '../../fresh/outcome.ts';

test('the counts of npm test are those of its last line', () => {
  expect(outcomeOf('# unit: 3 passed, 0 failed, 1 s\n\n4761 passed, 0 failed\n', 0, true)).toEqual({
    passed: 4761,
    failed: 0,
    lastLines: [],
  });
});

test('of failures the lines from their heading on are shown', () => {
  const printed = 'much before\n\nfailed:\n  e2e/a.spec.ts › works\n    no libcurl\n\n9 passed, 1 failed\n';
  const { passed, failed, lastLines } = outcomeOf(printed, 1, true);
  expect([passed, failed]).toEqual([9, 1]);
  expect(lastLines).toEqual([
    'failed:',
    '  e2e/a.spec.ts › works',
    '    no libcurl',
    '',
    '9 passed, 1 failed',
  ]);
});

test('a command without counts passes when it ends well and leaves its report', () => {
  expect(outcomeOf('report: out/report.html', 0, true)).toMatchObject({ passed: 1, failed: 0 });
  expect(outcomeOf('report: out/report.html', 0, false)).toMatchObject({ passed: 0, failed: 1 });
  expect(outcomeOf('hopwise: no network', 1, false)).toMatchObject({ lastLines: ['hopwise: no network'] });
});

test('a command that ends with an error has failed, whatever it counted', () => {
  expect(outcomeOf('7 passed, 0 failed', 1, true)).toMatchObject({ passed: 7, failed: 1 });
});

test('the summary has a row for each command', () => {
  const outcomes = [
    { name: 'root-start', passed: 1, failed: 0, minutes: 6.24, lastLines: [] },
    { name: 'root-test', passed: 4762, failed: 0, minutes: 26, lastLines: [] },
  ];
  expect(summaryLines(outcomes)).toEqual([
    '',
    'fresh       passed  failed  minutes',
    'root-start       1       0      6.2',
    'root-test     4762       0     26.0',
  ]);
});
