import type { Recording } from '@hopwise/contract';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { Verifications } from '../../src/background/verifications.ts';
import { HelperError } from '../../src/helper/helper-port.ts';
import { verifyWithHelper } from '../../src/helper/verify-with-helper.ts';
import { describeError } from '../../src/language/describe-error.ts';
import { t } from '../../src/language/translate.ts';
import { addLoad, getLoad, type StoredLoad } from '../../src/storage/loads.ts';
import { readSettings, saveSettings } from '../../src/storage/settings.ts';
import { addBytes } from '../../src/storage/verification-data.ts';
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

/** What the worker answers for a request that is refused. */
const refusalOf = (request: Promise<unknown>): Promise<string> =>
  request.then(() => {
    throw new Error('it was not refused');
  }, describeError);

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
  const [first, second] = [verifications.start(load, {}), verifications.start(load, {})];
  expect(await refusalOf(second)).toBe('Eine andere Prüfung läuft. Bitte warten, bis sie fertig ist.');
  expect(await first).toMatchObject({ state: 'running' });
});

test.each<[string, Partial<Recording>, string]>([
  [
    'came over http',
    { url: 'http://page.test/' },
    'Nur Seiten, die über https kommen, lassen sich prüfen: HTTP/2 und HTTP/3 brauchen https.',
  ],
  [
    'has nothing to repeat',
    { requests: loadOf(1).recording.requests.map((request) => ({ ...request, method: 'POST' })) },
    'Diese Seite lässt sich nicht prüfen: Sie hat keine GET-Anfrage über https, die sich wiederholen ließe.',
  ],
])('a page that %s is refused in the language of the browser', async (_, more, refusal) => {
  browserLanguage = 'de-DE';
  const load = await storeLoad();
  const recording = { ...load.recording, ...more };
  expect(await refusalOf(new Verifications().start({ ...load, recording }, {}))).toBe(refusal);
});

test('a verification is refused in the language of the browser once the day’s data are spent', async () => {
  browserLanguage = 'de-DE';
  const load = await storeLoad();
  await saveSettings({ ...(await readSettings()), maxDailyBytes: 10e6 });
  await addBytes(10e6);
  expect(await refusalOf(new Verifications().start(load, {}))).toBe(
    'Das heutige Limit von 10\u00a0MB für Prüfungen ist erreicht. Die Einstellungen von hopwise können es erhöhen.',
  );
});

test('a verification that the helper cannot make has failed, which is said in the language of the browser', async () => {
  browserLanguage = 'de-DE';
  const load = await storeLoad();
  const verifications = new Verifications();
  vi.mocked(verifyWithHelper).mockRejectedValueOnce(new HelperError('cancelled', () => t('verifyCancelled')));
  await verifications.start(load, {});
  await expect
    .poll(() => verifications.getState(load))
    .toEqual({
      state: 'failed',
      loadId: load.id,
      code: 'cancelled',
      message: 'Die Prüfung wurde abgebrochen.',
    });
});

test('a verification that ended with the worker has failed, which is said in the language of the browser', async () => {
  browserLanguage = 'de-DE';
  const load = await storeLoad();
  await chrome.storage.session.set({ verification: { state: 'running', loadId: load.id } });
  expect(await new Verifications().getState(load)).toEqual({
    state: 'failed',
    loadId: load.id,
    code: 'interrupted',
    message: 'Der Browser hat die Erweiterung während der Prüfung beendet. Bitte erneut prüfen.',
  });
});

test('a forgotten verification, which still has to end, says nothing any more: neither of itself nor in place of the next one', async () => {
  const load = await storeLoad();
  const verifications = new Verifications();
  const refuseAll: ((error: Error) => void)[] = [];
  const signals: AbortSignal[] = [];
  vi.mocked(verifyWithHelper).mockImplementation((_probe, _onProgress, signal) => {
    signals.push(signal);
    return new Promise((_resolve, reject) => void refuseAll.push(reject));
  });
  onTestFinished(() => void vi.mocked(verifyWithHelper).mockReset());
  await verifications.start(load, {});
  verifications.forgetLast();
  await verifications.start(load, {});
  refuseAll[0]!(new HelperError('cancelled', () => t('verifyCancelled')));
  // It adds what it transferred to the day's data before it ends.
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await verifications.getState(load)).toMatchObject({ state: 'running' });
  verifications.cancel();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});
