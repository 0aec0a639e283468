import { expect, it } from 'vitest';
import { leastStep, measurePeriods } from '../../src/papers/wisetrans/periods.ts';

it('measures on the committed sessions what longer periods switch and save', async () => {
  expect(await measurePeriods()).toMatchObject({
    kind: 'measured',
    real: { source: 'lab', value: expect.any(Number), text: expect.stringMatching(/^0\.5 s: \d.*; 4 s: /) },
  });
});

it('wants both fewer switches and less saved of each longer period', () => {
  const short = { periodS: 1, switches: 0.4, savedMs: 50 };
  expect(leastStep([short, { periodS: 2, switches: 0.2, savedMs: 40 }])).toBeCloseTo(0.2);
  expect(leastStep([short, { periodS: 2, switches: 0.2, savedMs: 60 }])).toBeLessThan(0);
  expect(leastStep([short, { periodS: 2, switches: 0.5, savedMs: 40 }])).toBeLessThan(0);
});
