import { beforeEach, expect, test, vi } from 'vitest';
import { doChores } from '../../src/background/chores.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';
import '../support/own-database.ts';

const HOUR_MS = 3_600_000;
let done: string[];
const chore = (name: string) => async () => void done.push(name);

beforeEach(() => {
  done = [];
  vi.stubGlobal('chrome', { storage: { session: new StubbedStorage() } });
});

test('chores are done at once, then an hour apart, in whatever worker', async () => {
  for (const atMs of [0, HOUR_MS - 1, HOUR_MS, HOUR_MS + 1]) await doChores([chore(`${atMs}`)], atMs);
  expect(done).toEqual(['0', `${HOUR_MS}`]);
});

test('a clock that was ahead does not hold them up', async () => {
  await doChores([chore('ahead')], 10 * HOUR_MS);
  await doChores([chore('put right')], HOUR_MS);
  expect(done).toEqual(['ahead', 'put right']);
});

test('one that fails does not keep the others from being done', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  await doChores([() => Promise.reject(new Error('no space')), chore('other')], 0);
  expect(done).toEqual(['other']);
  expect(log).toHaveBeenCalledWith('hopwise: a chore failed:', 'no space');
});
