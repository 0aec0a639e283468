import { expect } from 'vitest';
import { runFaults } from './run.ts';

/** The draws; a failure names its batch: `npm run bench -- faults --seed S --batch B`. */
const SEED = Number(process.env.HOPWISE_FAULTS_SEED ?? 1);

/**
 * Runs the first `cases` random faults of a seed. Their moments are those of the machine's clock: batches that other work
 * may have spoiled run again, each by itself, where a defect of the helper shows again.
 */
export async function expectFaultsHandled(cases: number): Promise<void> {
  const first = await runFaults({ seed: SEED, cases });
  expect(first.cases).toBe(cases);
  const batches = new Set(first.wrong.map((words) => Number(/^\d+\/(\d+)/.exec(words)![1])));
  if (first.wrong.length > 0) console.log(`once more by themselves:\n${first.wrong.join('\n')}`);
  const again: string[] = [];
  for (const batch of batches) again.push(...(await runFaults({ seed: SEED, cases, batch })).wrong);
  expect(again).toEqual([]);
}
