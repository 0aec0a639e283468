import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DAY_MS } from '@hopwise/contract';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { LibcurlCandidate } from '../../src/curl/candidates.ts';
import { putRememberedFirst, rememberLibrary } from '../../src/curl/remembered-library.ts';

const candidate = (path: string): LibcurlCandidate => ({ path, from: 'system', libraryFolder: '' });
const [SYSTEM, PACKAGED, PRIVATE] = ['libcurl.so.4', '/package/libcurl.so', '/private/libcurl.so'].map(
  candidate,
);
const ALL = [SYSTEM!, PACKAGED!, PRIVATE!];
let state: string;
const file = () => join(state, 'hopwise', 'libcurl.json');

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'hopwise-state-'));
  vi.stubEnv('XDG_STATE_HOME', state);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(state, { recursive: true });
});

test('the library that was found last is tried first, for a day', () => {
  expect(putRememberedFirst(ALL, 1000)).toEqual(ALL);
  rememberLibrary(PRIVATE!, 1000);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(putRememberedFirst(ALL, 1000)).toEqual([PRIVATE, SYSTEM, PACKAGED]);
  expect(putRememberedFirst(ALL, 1000 + DAY_MS - 1)[0]).toBe(PRIVATE);
  expect(putRememberedFirst(ALL, 1000 + DAY_MS)).toEqual(ALL);
  // The clock was wrong when it was written, or is now.
  expect(putRememberedFirst(ALL, 999)).toEqual(ALL);
});

test('a library that is no candidate any more is not tried', () => {
  rememberLibrary(PRIVATE!, 1000);
  expect(putRememberedFirst([SYSTEM!, PACKAGED!], 1000)).toEqual([SYSTEM, PACKAGED]);
});

test.each(['', '{', '{"path":1}', '[]', 'null'])('a file with %j remembers nothing', (text) => {
  rememberLibrary(PRIVATE!, 1000);
  writeFileSync(file(), text);
  expect(putRememberedFirst(ALL, 1000)).toEqual(ALL);
  rememberLibrary(PACKAGED!, 1000);
  expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({ path: PACKAGED!.path, foundAtMs: 1000 });
});

test('where nothing can be written the next start looks again', () => {
  // A file in place of the folder.
  writeFileSync(join(state, 'hopwise'), '');
  rememberLibrary(PRIVATE!, 1000);
  expect(putRememberedFirst(ALL, 1000)).toEqual(ALL);
});
