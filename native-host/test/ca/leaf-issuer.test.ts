import { chmodSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SecureContext } from 'node:tls';
import { DAY_MS, HOUR_MS } from '@hopwise/contract';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Authority, createAuthority } from '../../src/ca/authority.ts';
import { removeKeys, writeAuthority } from '../../src/ca/authority-store.ts';
import { LocalLeafIssuer } from '../../src/ca/leaf-issuer.ts';
import { handshake } from '../support/handshake.ts';

let home: string;
let folder: string;
let authority: Authority;
let nowMs: number;
let logged: string[];
let issuer: LocalLeafIssuer;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'hopwise-leaf-'));
  folder = join(home, 'ca');
  authority = createAuthority(['a.test', 'b.test']);
  await writeAuthority(authority, folder);
  nowMs = Date.now();
  logged = [];
  issuer = new LocalLeafIssuer({ folder, log: (line) => logged.push(line), now: () => nowMs });
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Validity of the leaf, milliseconds before and after `nowMs`. */
async function validity(context: SecureContext): Promise<{ beforeMs: number; afterMs: number }> {
  const leaf = await handshake(context, 'a.test', { rejectUnauthorized: false });
  return { beforeMs: nowMs - Date.parse(leaf.valid_from), afterMs: Date.parse(leaf.valid_to) - nowMs };
}

it('issues certificates that a client with the root accepts', async () => {
  for (const host of ['a.test', 'b.test']) {
    const leaf = await handshake(issuer.contextFor(host)!, host, { ca: authority.root });
    expect(leaf).toMatchObject({ subjectaltname: `DNS:${host}`, bits: 256, nistCurve: 'P-256' });
    expect(leaf.ext_key_usage).toEqual(['1.3.6.1.5.5.7.3.1']);
  }
});

it('is rejected by a client that expects another host', async () => {
  const meeting = handshake(issuer.contextFor('a.test')!, 'b.test', { ca: authority.root });
  await expect(meeting).rejects.toThrow(/does not match certificate's altnames/);
});

it.each(['c.test', 'www.a.test', 'a.test.', 'A.test', '*.a.test', '127.0.0.1', ''])(
  'has nothing for %j',
  (host) => {
    expect(issuer.contextFor(host)).toBeNull();
  },
);

it('keeps a leaf for two days and issues the next a day before its expiry', async () => {
  const first = issuer.contextFor('a.test')!;
  const { beforeMs, afterMs } = await validity(first);
  expect(Math.round(beforeMs / HOUR_MS)).toBe(24);
  expect(Math.round(afterMs / HOUR_MS)).toBe(72);
  expect(issuer.contextFor('b.test')).not.toBe(first);
  nowMs += 2 * DAY_MS - HOUR_MS;
  expect(issuer.contextFor('a.test')).toBe(first);
  nowMs += 2 * HOUR_MS;
  const second = issuer.contextFor('a.test')!;
  expect(second).not.toBe(first);
  expect(Math.round((await validity(second)).afterMs / HOUR_MS)).toBe(72);
});

it.each([
  ['forward by a week', 7 * DAY_MS],
  ['forward by months', 200 * DAY_MS],
  ['back by ten hours, within the leaf', -10 * HOUR_MS],
])('has a valid leaf after the clock jumps %s', async (_, jumpMs) => {
  issuer.contextFor('a.test');
  nowMs += jumpMs;
  const { beforeMs, afterMs } = await validity(issuer.contextFor('a.test')!);
  expect(beforeMs).toBeGreaterThan(0);
  expect(afterMs).toBeGreaterThan(DAY_MS);
});

it('replaces a leaf that is not yet valid after the clock was set back', async () => {
  nowMs += 100 * DAY_MS;
  const late = issuer.contextFor('a.test');
  nowMs -= 50 * DAY_MS;
  const early = issuer.contextFor('a.test')!;
  expect(early).not.toBe(late);
  expect((await validity(early)).beforeMs).toBeGreaterThan(0);
});

it('issues nothing while the authority itself is not valid', () => {
  nowMs += 366 * DAY_MS;
  expect(issuer.contextFor('a.test')).toBeNull();
  nowMs -= 368 * DAY_MS;
  expect(issuer.contextFor('a.test')).toBeNull();
  nowMs += 2 * DAY_MS;
  expect(issuer.contextFor('a.test')).not.toBeNull();
});

it('never outlives its issuer', async () => {
  nowMs += 363.5 * DAY_MS;
  const context = issuer.contextFor('a.test')!;
  expect(Math.round((await validity(context)).afterMs / HOUR_MS)).toBe(36);
  nowMs += 11 * HOUR_MS;
  expect(issuer.contextFor('a.test')).toBe(context);
  nowMs += 2 * HOUR_MS;
  expect(issuer.contextFor('a.test')).toBeNull();
});

it('issues nothing without an authority, and certificates once there is one', async () => {
  rmSync(folder, { recursive: true });
  expect(issuer.contextFor('a.test')).toBeNull();
  await writeAuthority(authority, folder);
  expect(issuer.contextFor('a.test')).not.toBeNull();
  expect(logged).toEqual([]);
});

it('issues nothing as soon as the authority is removed', async () => {
  expect(issuer.contextFor('a.test')).not.toBeNull();
  await removeKeys(folder);
  expect(issuer.contextFor('a.test')).toBeNull();
});

it('uses a new authority in place of the former', async () => {
  expect(issuer.contextFor('b.test')).not.toBeNull();
  const other = createAuthority(['a.test']);
  await writeAuthority(other, folder);
  expect(issuer.contextFor('b.test')).toBeNull();
  await handshake(issuer.contextFor('a.test')!, 'a.test', { ca: other.root });
});

it('issues nothing while other users can access the keys, and logs it once', () => {
  expect(issuer.contextFor('a.test')).not.toBeNull();
  chmodSync(folder, 0o755);
  expect(issuer.contextFor('a.test')).toBeNull();
  expect(issuer.contextFor('b.test')).toBeNull();
  expect(logged).toEqual([expect.stringContaining('is open to other users (mode 755)')]);
  chmodSync(folder, 0o700);
  expect(issuer.contextFor('a.test')).not.toBeNull();
});

it('issues nothing from a linked folder', () => {
  renameSync(folder, join(home, 'elsewhere'));
  symlinkSync(join(home, 'elsewhere'), folder);
  expect(issuer.contextFor('a.test')).toBeNull();
  expect(logged).toEqual([expect.stringContaining('is not a folder')]);
});
