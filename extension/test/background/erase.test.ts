import { beforeEach, expect, test, vi } from 'vitest';
import { eraseAll, forgetPages } from '../../src/background/erase.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';
import '../support/own-database.ts';

const ERASED = { loads: 1, verifications: 0, network: false };

/** What is done, in order, each step with the time that it takes. */
let done: string[];

const step =
  <T>(name: string, outcome: T) =>
  async (): Promise<T> => {
    await new Promise((resolve) => setImmediate(resolve));
    done.push(name);
    return outcome;
  };

const places = {
  memory: { eraseAll: step('loads', ERASED), forgetPages: step('loads', undefined) },
  autopilot: { forgetPages: step('runs', undefined) },
  detailedPages: { forget: step('details', undefined), forgetAll: step('details', undefined) },
  announcer: { forgetSites: step('rates', undefined) },
  resting: { wakeAll: step('hosts', undefined) },
};

beforeEach(() => {
  done = [];
  vi.stubGlobal('chrome', { storage: { session: new StubbedStorage() } });
});

// While a load is there, the autopilot may act on it and would note its page again.
test('the loads are gone before the autopilot’s runs are', async () => {
  expect(await eraseAll(places)).toEqual(ERASED);
  expect(done).toEqual(['loads', 'runs', 'details', 'rates', 'hosts']);
  done = [];
  await forgetPages(['https://a.test/'], places);
  expect(done).toEqual(['loads', 'runs', 'details', 'rates', 'hosts']);
});
