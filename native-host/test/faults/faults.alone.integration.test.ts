import { expect, it } from 'vitest';
import { runFaults } from './run.ts';

const CASES = 200;
/** A minute each for the cases and for those that are run again, on a machine several times slower. */
const LIMIT_MS = 400_000;
/** The draws; a failure names its batch: `npm run faults -- --seed S --batch B`. */
const SEED = Number(process.env.HOPWISE_FAULTS_SEED ?? 1);

it(
  'ends 200 random faults in mid-transfer with the right bytes or the browser’s own error',
  async () => {
    const { cases, wrong } = await runFaults({ seed: SEED, cases: CASES });
    expect(cases).toBe(CASES);
    // The moments are those of the machine's clock: what a neighbour's work has upset passes when nothing else runs, a defect does not.
    const batches = new Set(wrong.map((words) => Number(/^\d+\/(\d+)/.exec(words)![1])));
    if (wrong.length > 0) console.log(`once more by themselves:\n${wrong.join('\n')}`);
    const again: string[] = [];
    for (const batch of batches) again.push(...(await runFaults({ seed: SEED, cases: CASES, batch })).wrong);
    expect(again).toEqual([]);
  },
  LIMIT_MS,
);
