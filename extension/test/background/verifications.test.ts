import { beforeEach, expect, test, vi } from 'vitest';
import { Verifications } from '../../src/background/verifications.ts';
import { verifyWithHelper } from '../../src/helper/verify-with-helper.ts';
import { addLoad, getLoad, type StoredLoad } from '../../src/storage/loads.ts';
import { loadOf } from '../evidence/stored-loads.ts';
import { fetchMessages } from '../support/packaged-messages.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';
import { verificationOf } from '../support/verification.ts';
import '../support/own-database.ts';

vi.mock('../../src/helper/verify-with-helper.ts');

let browserLanguage: string;

beforeEach(() => {
  browserLanguage = 'en-GB';
  vi.stubGlobal('chrome', {
    i18n: { getUILanguage: () => browserLanguage },
    runtime: { getURL: (path: string) => path },
    storage: { session: new StubbedStorage() },
  });
  vi.stubGlobal('fetch', fetchMessages);
});

async function storeLoad(): Promise<StoredLoad> {
  const { id: _id, storedAtMs: _storedAtMs, ...fields } = loadOf(1);
  return (await getLoad(await addLoad(fields)))!;
}

test('a verification is reported once the load has it, and one that fails is not', async () => {
  const load = await storeLoad();
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

test('of two that are begun at once the second is refused, in the language of the browser', async () => {
  browserLanguage = 'de-DE';
  const load = await storeLoad();
  const verifications = new Verifications(() => undefined);
  vi.mocked(verifyWithHelper).mockReturnValueOnce(new Promise(() => undefined));
  const begun = await Promise.allSettled([verifications.start(load, {}), verifications.start(load, {})]);
  expect(begun).toMatchObject([
    { status: 'fulfilled', value: { state: 'running' } },
    {
      status: 'rejected',
      reason: { message: 'Eine andere Prüfung läuft. Bitte warten, bis sie fertig ist.' },
    },
  ]);
});

test('a page that came over http is refused in the language of the browser', async () => {
  browserLanguage = 'de-DE';
  const load = await storeLoad();
  const recording = { ...load.recording, url: 'http://page.test/' };
  await expect(new Verifications(() => undefined).start({ ...load, recording }, {})).rejects.toThrow(
    'Nur Seiten, die über https kommen, lassen sich prüfen: HTTP/2 und HTTP/3 brauchen https.',
  );
});
