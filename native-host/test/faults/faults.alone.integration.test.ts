import { expect, it } from 'vitest';
import { runFaults } from './run.ts';

const CASES = 200;
/** The draws; a failure names its batch: `npm run faults -- --seed S --batch B`. */
const SEED = Number(process.env.HOPWISE_FAULTS_SEED ?? 1);

it('ends 200 random faults in mid-transfer with the right bytes or the browser’s own error', async () => {
  const { cases, wrong } = await runFaults({ seed: SEED, cases: CASES });
  expect(wrong).toEqual([]);
  expect(cases).toBe(CASES);
});
