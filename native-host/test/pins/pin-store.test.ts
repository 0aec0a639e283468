import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Pin } from '../../src/pins/pin.ts';
import { FilePinStore } from '../../src/pins/pin-store.ts';

const A: Pin = { origin: 'https://a.test', kind: 'avoid-h3', expiresAtMs: null, persistent: true };
const B: Pin = {
  origin: 'https://b.test:8443',
  kind: 'h2',
  expiresAtMs: 1_800_000_000_000,
  persistent: true,
};

let root: string;
let folder: string;
let store: FilePinStore;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'hopwise-pins-'));
  folder = join(root, 'state', 'pins');
  store = new FilePinStore(folder);
});
afterEach(() => rmSync(root, { recursive: true }));

function files(): string[] {
  return readdirSync(folder).map((name) => join(folder, name));
}

it('begins empty, and makes nothing by looking', () => {
  expect(store.load()).toEqual({ pins: [], problems: [] });
  store.drop(A.origin);
  expect(readdirSync(root)).toEqual([]);
});

it('keeps pins for its user alone, and nothing beside them', () => {
  store.keep(A);
  store.keep(B);
  store.keep({ ...A, kind: 'h3' });
  const { pins, problems } = new FilePinStore(folder).load();
  expect(pins).toHaveLength(2);
  expect(pins).toEqual(expect.arrayContaining([{ ...A, kind: 'h3' }, B]));
  expect(problems).toEqual([]);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(files().map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600]);
  store.drop(A.origin);
  store.drop(A.origin);
  expect(store.load().pins).toEqual([B]);
});

it('keeps what a pin is for: all sessions, or the next one', () => {
  store.keep({ ...A, persistent: false });
  expect(store.load().pins).toEqual([{ ...A, persistent: false }]);
  store.keep(A);
  expect(store.load().pins).toEqual([A]);
});

it('does not use a damaged file, whatever is in it, and says which', () => {
  store.keep(A);
  const [whole] = files();
  const good = JSON.parse(readFileSync(whole!, 'utf8')) as object;
  const damaged = join(folder, 'x.json');
  for (const [text, words] of [
    ['', 'it is not JSON'],
    ['{"version":1', 'it is not JSON'],
    ['null', 'it: '],
    [JSON.stringify({ ...good, version: 2 }), 'version: '],
    [JSON.stringify({ ...good, origin: 'https://a.test/' }), 'origin: '],
    [JSON.stringify({ ...good, expiresAtMs: 'soon' }), 'expiresAtMs: '],
    [JSON.stringify(good), 'its name is not that of its origin'],
    ['x'.repeat(5000), 'it has 5000 bytes of at most 4096'],
  ] as const) {
    writeFileSync(damaged, text);
    const { pins, problems } = store.load();
    expect(pins).toEqual([A]);
    expect(problems).toEqual([
      { problem: expect.stringContaining(`${damaged} is not used: ${words}`), fix: `remove ${damaged}` },
    ]);
  }
});

it('never throws over what it finds', () => {
  mkdirSync(join(folder, 'folder.json'), { recursive: true });
  expect(store.load().problems).toHaveLength(1);
  rmSync(folder, { recursive: true });
  writeFileSync(folder, 'no folder');
  expect(store.load()).toMatchObject({
    pins: [],
    problems: [{ problem: expect.stringContaining('ENOTDIR') }],
  });
  rmSync(folder);
  store.keep(A);
  const [path] = files();
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      writeFileSync(path!, bytes);
      expect(store.load().pins).toEqual([]);
    }),
  );
});

it('leaves the former pin whole and nothing else when it cannot write', () => {
  store.keep(A);
  const [path] = files();
  // A folder in the place of the draft cannot be opened as a file, by root neither.
  const draft = `${path}.${process.pid}.new`;
  mkdirSync(join(draft, 'x'), { recursive: true });
  expect(() => store.keep({ ...A, kind: 'h1' })).toThrow();
  expect(store.load()).toEqual({ pins: [A], problems: [] });
});
