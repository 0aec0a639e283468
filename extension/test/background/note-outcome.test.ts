import { beforeEach, expect, test, vi } from 'vitest';
import { showBadge } from '../../src/background/badge.ts';
import { noteOutcome } from '../../src/background/note-outcome.ts';
import { addLoad } from '../../src/storage/loads.ts';
import { loadOf } from '../evidence/stored-loads.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';
import '../support/own-database.ts';

vi.mock('../../src/background/badge.ts');

beforeEach(() => {
  vi.stubGlobal('chrome', { storage: { session: new StubbedStorage() } });
});

test.each([
  ['a load alone', 0, 9_000],
  ['none beside those of other tabs', 1, null],
])('the gain on the icon is counted from what the page took in %s', async (_words, overlap, seenMs) => {
  const { id: _id, ...fields } = loadOf(0, { overlap, isDetailed: false, recording: { pltMs: 9_000 } });
  await noteOutcome(7, await addLoad(fields), {
    autopilot: { readReferences: async () => () => null },
    detailedPages: { wantIfRare: async () => undefined },
    pins: { listPins: async () => [] },
  });
  expect(vi.mocked(showBadge).mock.lastCall).toEqual([7, null, seenMs, []]);
});
