import { beforeEach, expect, test, vi } from 'vitest';
import { answersAlike } from '../../src/background/answers-alike.ts';
import { addLoad } from '../../src/storage/loads.ts';
import { loadOf, requestOf } from '../evidence/stored-loads.ts';
import { StubbedStorage } from '../support/stubbed-storage.ts';
import '../support/own-database.ts';

beforeEach(() => {
  vi.stubGlobal('chrome', { storage: { local: new StubbedStorage(), session: new StubbedStorage() } });
});

test.each([
  ['as each of the last three loads', [200, 404, 404, 404], 404, true],
  ['as two loads alone', [404, 404], 404, false],
  ['otherwise than the last loads', [404, 404, 403], 404, false],
  ['as a busy server does', [503, 503, 503], 503, false],
  ['without an error', [200, 200, 200], 200, false],
])('an answer %s (%j, then %i) is the page’s own: %j', async (words, before, status, isOwn) => {
  const url = `https://app.test/${words.replaceAll(' ', '-')}`;
  const recordingOf = (each: number) =>
    loadOf(1, { recording: { url, requests: [requestOf(0, { url, status: each })] } }).recording;
  const { id: _, ...fields } = loadOf(1);
  for (const each of before) await addLoad({ ...fields, requestedUrl: url, recording: recordingOf(each) });
  expect(await answersAlike(recordingOf(status), null)).toBe(isOwn);
});
