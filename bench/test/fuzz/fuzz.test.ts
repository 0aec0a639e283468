import { expect, it } from 'vitest';
import { TARGETS } from '../../src/fuzz/targets.ts';
import { fuzzFixed, SERVERS } from '../support/fuzz-targets.ts';

it.each(Object.keys(TARGETS).filter((name) => !SERVERS.includes(name)))(
  'changed inputs break nothing of %s',
  async (target) => {
    const { executions, findings } = await fuzzFixed(target, 100);
    expect(findings).toEqual([]);
    expect(executions).toBeGreaterThanOrEqual(100);
  },
);
