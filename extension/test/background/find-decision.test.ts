import { HOUR_MS } from '@hopwise/contract';
import type { Prediction } from '@hopwise/pageload-emulator';
import { beforeEach, expect, test, vi } from 'vitest';
import { findDecision } from '../../src/background/find-decision.ts';
import { addLoad, getLoad, getSummaries, updateLoad } from '../../src/storage/loads.ts';
import { loadOf } from '../evidence/stored-loads.ts';
import { actionOf, decisionOf, LEAVE } from '../support/decisions.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';
import '../support/own-database.ts';

beforeEach(() => {
  vi.stubGlobal('chrome', { storage: { session: new StubbedStorage() } });
});

/** Work that the visits of a page led to. */
interface Work {
  predictions: number;
  detailed: number;
  decisions: (ReturnType<typeof decisionOf> | null)[];
}

/**
 * Visits a page again and again.
 *
 * @param timesMs of its loads
 * @param decide decides about each load that is predicted
 * @param isAlwaysDetailed whether the user wants all loads recorded in detail, not only those that leave a question open
 */
async function visit(
  timesMs: readonly number[],
  decide: () => ReturnType<typeof decisionOf>,
  isAlwaysDetailed = false,
): Promise<Work> {
  const work: Work = { predictions: 0, detailed: 0, decisions: [] };
  let isWanted = false;
  for (const [index, pltMs] of timesMs.entries()) {
    const isDetailed = isAlwaysDetailed || isWanted;
    isWanted = false;
    work.detailed += Number(isDetailed);
    const recordedAt = new Date(Date.now() + index * HOUR_MS).toISOString();
    const { id: _id, ...fields } = loadOf(0, { isDetailed, recording: { pltMs, recordedAt } });
    const load = (await getLoad(await addLoad(fields)))!;
    const decision = await findDecision(load, await getSummaries(), {
      predict: (unpredicted) => {
        work.predictions++;
        return updateLoad(unpredicted.id, { prediction: { decision: decide() } as Prediction });
      },
      wantDetail: async () => {
        isWanted = true;
      },
    });
    work.decisions.push(decision);
  }
  return work;
}

const leave = () => decisionOf([LEAVE]);
const avoid = () => decisionOf([actionOf('avoid-h3', { 'https://page.test': 'h2' })]);
const times = (count: number, ms: number) => Array.from({ length: count }, () => ms);

test('a long page is recorded in detail and predicted once where nothing can be gained', async () => {
  const found = await visit(times(8, 4_000), leave);
  expect(found).toMatchObject({ predictions: 1, detailed: 1 });
  expect(found.decisions).toEqual([null, ...Array.from({ length: 7 }, leave)]);
});

test('a long page that can be faster is recorded in detail and predicted three times', async () => {
  expect(await visit(times(8, 4_000), avoid)).toMatchObject({ predictions: 3, detailed: 3 });
});

test('a page that takes longer than when it was decided is recorded in detail again', async () => {
  const slower = [...times(4, 4_000), 7_000, 7_000];
  expect(await visit(slower, leave)).toMatchObject({ predictions: 2, detailed: 2 });
});

test('where all loads are recorded in detail, two predictions that leave a page hold for its next eight loads', async () => {
  const found = await visit(times(10, 2_000), leave, true);
  expect(found.predictions).toBe(2);
  expect(found.decisions).toEqual(Array.from({ length: 10 }, leave));
});

test('where all loads are recorded in detail, a page that can be faster is predicted each time', async () => {
  expect((await visit(times(6, 2_000), avoid, true)).predictions).toBe(6);
});
