import { HOUR_MS } from '@hopwise/contract';
import type { Prediction } from '@hopwise/pageload-emulator';
import { beforeEach, expect, test, vi } from 'vitest';
import { findDecision } from '../../src/background/find-decision.ts';
import { addLoad, getLoad, getSummaries, updateLoad } from '../../src/storage/loads.ts';
import { loadOf, requestOf } from '../evidence/stored-loads.ts';
import { actionOf, decisionOf, LEAVE } from '../support/decisions.ts';
import { knownWithUdp, saveKnownNetwork } from '../support/known-network.ts';
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
 * @param requests of each load
 * @param overlap of each load with those of other tabs
 */
async function visit(
  timesMs: readonly number[],
  decide: () => ReturnType<typeof decisionOf>,
  isAlwaysDetailed = false,
  requests = OVER_H3,
  overlap = 0,
): Promise<Work> {
  const work: Work = { predictions: 0, detailed: 0, decisions: [] };
  let isWanted = false;
  for (const [index, pltMs] of timesMs.entries()) {
    const isDetailed = isAlwaysDetailed || isWanted;
    isWanted = false;
    work.detailed += Number(isDetailed);
    const recordedAt = new Date(Date.now() + index * HOUR_MS).toISOString();
    const { id: _id, ...fields } = loadOf(0, {
      isDetailed,
      overlap,
      recording: { pltMs, recordedAt, requests },
    });
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

const OVER_H3 = [requestOf(0), requestOf(1, { protocol: 'h3' })];
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

test('a long page is neither predicted nor recorded in detail where no setting could change how it loads', async () => {
  const found = await visit(times(6, 9_000), avoid, false, [requestOf(0), requestOf(1)]);
  expect(found).toEqual({ predictions: 0, detailed: 0, decisions: times(6, 0).map(() => null) });
});

test.each([
  ['leaves UDP alone', { open: 0.99, policed: 0.01 }, 0],
  ['may hold UDP to a rate', { open: 0.5, policed: 0.5 }, 1],
])('a long page over HTTP/3 where the network %s', async (_words, udp, predictions) => {
  await saveKnownNetwork(knownWithUdp(udp).cluster);
  expect(await visit(times(6, 9_000), leave)).toMatchObject({ predictions, detailed: predictions });
});

test('a page that takes much longer than before is predicted although the network left UDP alone', async () => {
  await saveKnownNetwork(knownWithUdp({ open: 0.99, policed: 0.01 }).cluster);
  expect(await visit([...times(4, 2_000), 9_000, 9_000], leave)).toMatchObject({ predictions: 1 });
});

test.each([
  ['are not predicted', 2, 0],
  ['are from the third on, where it is always loaded so', 4, 2],
])('loads of a long page beside those of other tabs %s', async (_words, loads, predictions) => {
  expect(await visit(times(loads, 4_000), avoid, true, OVER_H3, 1)).toMatchObject({ predictions });
});

test('they do not lead to detailed recordings either', async () => {
  expect(await visit(times(2, 4_000), avoid, false, OVER_H3, 1)).toMatchObject({ detailed: 0 });
});
