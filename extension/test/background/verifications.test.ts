import { expect, test, vi } from 'vitest';
import { Verifications } from '../../src/background/verifications.ts';
import { verifyWithHelper } from '../../src/helper/verify-with-helper.ts';
import { addLoad, getLoad } from '../../src/storage/loads.ts';
import { loadOf } from '../evidence/stored-loads.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';
import { verificationOf } from '../support/verification.ts';
import '../support/own-database.ts';

vi.mock('../../src/helper/verify-with-helper.ts');

test('a verification is reported once the load has it, and one that fails is not', async () => {
  vi.stubGlobal('chrome', { storage: { session: new StubbedStorage() } });
  const { id: _id, storedAtMs: _storedAtMs, ...fields } = loadOf(1);
  const load = (await getLoad(await addLoad(fields)))!;
  const verification = verificationOf({ pageUrl: load.recording.url, bytes: 1000 });
  const reported: Promise<unknown>[] = [];
  const verifications = new Verifications((loadId) => void reported.push(getLoad(loadId)));
  const isOver = async (state: string) => {
    await verifications.start(load, {});
    await expect.poll(() => verifications.getState(load)).toMatchObject({ state });
  };
  vi.mocked(verifyWithHelper).mockRejectedValueOnce(new Error('The helper is not installed.'));
  await isOver('failed');
  expect(reported).toEqual([]);
  vi.mocked(verifyWithHelper).mockResolvedValueOnce(verification);
  await isOver('done');
  expect(await Promise.all(reported)).toMatchObject([{ id: load.id, verification }]);
});
