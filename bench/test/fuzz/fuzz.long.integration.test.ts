import { expect, it } from 'vitest';
import { TARGETS } from '../../src/fuzz/targets.ts';
import { fuzzFixed } from '../support/fuzz-targets.ts';

it.each(Object.keys(TARGETS))('thousands of changed inputs break nothing of %s', async (target) => {
  const { executions, findings } = await fuzzFixed(target, 3_000);
  expect(findings).toEqual([]);
  expect(executions).toBeGreaterThan(100);
});
