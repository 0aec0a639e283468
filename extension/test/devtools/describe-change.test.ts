import { expect, test } from 'vitest';
import { describeChange } from '../../src/devtools/describe-change.ts';
import { createDurationFormat } from '../../src/ui/format.ts';

test('changes of a load time are in its unit, and small ones are none', () => {
  const write = createDurationFormat(4200);
  // 40 ms are less than 1% of 4.2 s; 48 ms are more.
  const written = [-2080, 63, 40, 48].map((ms) => describeChange(ms, 4200, write));
  expect(written).toEqual(['−2.1 s', '+0.1 s', '', '+50 ms']);
  expect(describeChange(-48, 420, createDurationFormat(420))).toBe('−50 ms');
});
