import { expect, test } from 'vitest';
import { describeOutcome, describeSlowest, newOutcome } from '../../suites/outcome.ts';
import { describeError } from '../../suites/vitest-outcome.ts';

test('says before the counts which tests failed, and why', () => {
  const outcome = {
    ...newOutcome(),
    passed: 7,
    failed: 1,
    skipped: 2,
    failures: [
      { where: 'a.test.ts', what: 'the page › loads', why: '\x1b[31mError\x1b[39m: late\n\n  by 3 ms\n' },
    ],
  };
  expect(describeOutcome(outcome)).toEqual([
    '',
    'failed:',
    '  a.test.ts › the page › loads',
    '    Error: late · by 3 ms',
    '',
    '2 skipped',
    '7 passed, 1 failed',
  ]);
  const many = Array.from({ length: 100 }, (_, index) => ({
    where: 'c',
    what: `${index}`,
    why: 'x'.repeat(999),
  }));
  const lines = describeOutcome({ ...outcome, failed: 100, failures: many });
  expect(lines.length).toBeLessThanOrEqual(30);
  expect(lines.slice(2, 4).map((line) => line.slice(0, 12))).toEqual(['  c › 0: xxx', '  c › 1: xxx']);
  expect(lines.slice(-4)).toEqual(['  and 77 more', '', '2 skipped', '7 passed, 100 failed']);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(240);
});

test('lists the slowest files with their processor time where it is known', () => {
  const files = [
    { file: 'a.test.ts', seconds: 1.2, processorSeconds: 1 },
    { file: 'b.test.ts', seconds: 70.4, processorSeconds: 12.3 },
    { file: 'c.test.ts', seconds: 3, processorSeconds: null },
  ];
  expect(describeSlowest({ ...newOutcome(), files })).toEqual([
    'slowest files:',
    '    70 s, processor 12 s  b.test.ts',
    '     3 s  c.test.ts',
    '     1 s, processor 1 s  a.test.ts',
  ]);
  expect(describeSlowest(newOutcome())).toEqual([]);
});

test('says in which properties two values differ', () => {
  const diff = [
    '\x1b[32m- Expected\x1b[39m',
    '\x1b[31m+ Received\x1b[39m',
    '',
    '@@ -1,4 +1,4 @@',
    '  {',
    '\x1b[32m-   "protocol": "h2",\x1b[39m',
    '\x1b[31m+   "protocol": "h3",\x1b[39m',
    '    "status": 200,',
  ].join('\n');
  expect(describeError({ message: 'expected {…} to match object {…}', diff })).toBe(
    'expected {…} to match object {…}\n-   "protocol": "h2",\n+   "protocol": "h3",',
  );
  expect(describeError({ message: 'late' })).toBe('late');
});
