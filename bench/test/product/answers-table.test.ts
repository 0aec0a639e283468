import { expect, test } from 'vitest';
import { showAnswers } from '../../src/product/answers-table.ts';
import type { Answer } from '../../src/product/judge-answers.ts';

const ANSWER: Answer = {
  browser: 'chromium',
  network: 'udp-policed',
  page: 'shop',
  visit: 2,
  arm: 'record',
  recordedMs: 40_400,
  explainedMs: 47_800,
  understood: true,
  protocols: [
    { protocol: 'h1', expectedMs: 6100, measuredMs: 5600 },
    { protocol: 'h2', expectedMs: 5400, measuredMs: 6000 },
  ],
  verdict: 'Keep this page off HTTP/3: 40 s → about 5.4 s (sure).',
};

test('expected times stand before those that the arms took', () => {
  const text = showAnswers([
    ANSWER,
    {
      ...ANSWER,
      visit: 3,
      explainedMs: null,
      understood: false,
      protocols: [{ protocol: 'h2', expectedMs: 7200, measuredMs: 6000 }],
    },
  ]);
  expect(text).toContain(
    'Errors, median and 90th percentile: h1 8.9% and 8.9% of 1, h2 15.0% and 19.0% of 2.',
  );
  const [second, third] = text.split('\n').filter((line) => line.startsWith('udp-policed'));
  expect(second).toMatch(
    /2\s+record\s+40\.40 s\s+47\.80 s\s+yes\s+6\.10 s, 5\.60 s\s+5\.40 s, 6\.00 s\s+–\s+Keep/,
  );
  expect(third).toMatch(/3\s+record\s+40\.40 s\s+–\s+no\s+–\s+7\.20 s, 6\.00 s\s+–\s+Keep/);
});

test('nothing is shown of a run that kept no loads', () => {
  expect(showAnswers([])).toBe('');
});
