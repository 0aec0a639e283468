import { expect, it } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import { TARGETS } from '../../src/fuzz/targets.ts';
import { fuzzFixed, SERVERS } from '../support/fuzz-targets.ts';

/** Targets in `npm test`. */
const SHARE = 4;
const targets = Object.keys(TARGETS).filter((name) => !SERVERS.includes(name));

it.each(drawShare(targets, SHARE))('changed inputs break nothing of %s', async (target) => {
  const { executions, findings } = await fuzzFixed(target, 100);
  expect(findings).toEqual([]);
  expect(executions).toBeGreaterThanOrEqual(100);
});
