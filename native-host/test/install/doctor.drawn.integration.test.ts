/** `hopwise-host doctor` where something is wrong: a line for each fault, each with its fix. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { COMMAND, hopwiseHost } from '../support/command.ts';

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hopwise-doctor-'));
});

afterEach(() => rmSync(home, { recursive: true }));

interface Check {
  name: string;
  ok: boolean;
  detail: string;
  fix: string;
}

/** What is wrong, but for what every home folder lacks that is this empty. */
function faults(): Check[] {
  const { out, err } = hopwiseHost(home, ['doctor', '--json', '--browser', 'firefox']);
  expect(err).toBe('');
  const { checks } = JSON.parse(out) as { checks: Check[] };
  for (const { detail, fix } of checks) expect(`${detail}${fix}`).not.toContain('\n');
  return checks.filter(({ ok, name }) => !ok && name !== 'HTTP/3');
}

it('names each fault and its fix, and none twice', () => {
  const pins = join(home, 'state', 'hopwise', 'pins');
  const log = join(home, 'state', 'hopwise', 'host.log');
  mkdirSync(pins, { recursive: true });
  mkdirSync(log);
  for (const origin of ['https://a.example', 'https://b.example']) {
    const { out } = hopwiseHost(home, ['pin', origin, '--keep']);
    expect(out).toContain('stored for every session');
  }
  for (const file of execFileSync('ls', [pins], { encoding: 'utf8' }).trim().split('\n')) {
    writeFileSync(join(pins, file), '{');
  }
  hopwiseHost(home, ['ca', 'create', 'https://a.example']);
  const ca = join(home, 'data', 'hopwise', 'ca');
  chmodSync(ca, 0o755);
  expect(faults()).toMatchObject([
    { name: 'Firefox', detail: 'not registered', fix: `run: ${COMMAND} install` },
    {
      name: 'Local CA',
      detail: expect.stringContaining('open to other users'),
      fix: expect.stringContaining(`chmod 700 '${ca}'`),
    },
    { name: 'Pins', detail: expect.stringContaining('not JSON'), fix: expect.stringContaining('remove ') },
    { name: 'Pins', detail: expect.stringContaining('not JSON'), fix: expect.stringContaining('remove ') },
    { name: 'Log', detail: expect.stringContaining('EISDIR'), fix: expect.stringContaining(log) },
  ]);
});

it('says whether a browser trusts the local CA, and which', () => {
  hopwiseHost(home, ['install', '--browser', 'firefox']);
  hopwiseHost(home, ['ca', 'create', 'https://a.example']);
  const store = join(home, '.pki', 'nssdb');
  mkdirSync(store, { recursive: true });
  execFileSync('certutil', ['-N', '-d', `sql:${store}`, '--empty-password']);
  const launcher = join(home, 'data', 'hopwise', 'hopwise-host.sh');
  expect(faults()).toMatchObject([
    { name: 'CA trust', detail: 'no browser trusts the local CA', fix: `run: ${launcher} ca trust` },
  ]);
  hopwiseHost(home, ['ca', 'trust']);
  expect(faults()).toEqual([]);
  const { out } = hopwiseHost(home, ['doctor', '--browser', 'firefox']);
  expect(out).toMatch(/^ok {3}CA trust: Chromium, Chrome, Edge and Brave$/m);
});
