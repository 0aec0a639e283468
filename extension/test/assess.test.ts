import type { Verification } from '@hopwise/native-host/messages';
import type { Recording } from '@hopwise/pageload-emulator';
import { expect, test } from 'vitest';
import { assess, budgetOf } from '../src/background/assess.ts';

const plan = (bytes: number[]) => ({
  pageUrl: 'https://page.test/',
  userAgent: 'test',
  transfers: bytes.map((size, index) => ({
    url: `https://page.test/${index}`,
    after: [],
    delayMs: 0,
    urgency: 3,
    incremental: false,
    accept: '*/*',
    bytes: size,
  })),
});

test('a verification may take what the plan expects with a margin, never a film without end', () => {
  // 1.5 × 300 kB × 3 protocols × 2 rounds + 1 MB
  expect(budgetOf(plan([100_000, 200_000]), 3, 2)).toBe(3_700_000);
  expect(budgetOf(plan([100_000, 4e9]), 3, 3)).toBe(500_000_000);
});

test('what cannot be predicted says why, with a verification too', () => {
  const nothing = { url: 'https://page.test/', requests: [] } as unknown as Recording;
  const verification: Verification = {
    pageUrl: 'https://page.test/',
    engine: 'libcurl',
    startedAt: '2026-11-20T12:00:00Z',
    protocols: {},
    udp: 'open',
    bytes: 0,
  };
  for (const outcome of [assess(nothing), assess(nothing, verification)]) {
    expect(outcome.prediction).toBeNull();
    expect(outcome.problem).toMatch(/^This load was recorded, but not predicted: /);
  }
});
