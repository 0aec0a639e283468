/** Updates of the private libcurl, against a mock of apt on the `PATH`: no package server is asked. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { canSetUp, osRelease } from '../../src/base/install-hints.ts';
import { privateFolder } from '../../src/curl/candidates.ts';
import { Engine } from '../../src/engine/engine.ts';
import { COMMAND, hopwiseHost } from '../support/command.ts';
import { privateLibcurl } from '../support/private-libcurl.ts';

const OLD = '8.0.0-1~bpo12+1';
const NEW = '99.0.0-1~bpo12+1';

const source = await privateLibcurl();
const isCopy = dirname(dirname(source)) === privateFolder();
const test = it.skipIf(!canSetUp() || !isCopy);

let home: string;
let mock: string;
let copies: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hopwise-update-'));
  mock = join(home, 'mock');
  copies = join(home, 'data', 'hopwise', 'libcurl');
  mkdirSync(mock);
  mkdirSync(copies, { recursive: true });
  cpSync(dirname(source), join(copies, OLD), { recursive: true, verbatimSymlinks: true });
  rmSync(join(copies, OLD, 'hopwise-package.json'), { force: true });
  program('apt-config', '');
  program(
    'apt-get',
    `case "$*" in
*indextargets*) echo "http://mirror.invalid/debian/|${osRelease().codename}|main|Debian" ;;
*update*) if [ -e "${mock}/offline" ]; then echo "E: Failed to fetch: no network" >&2; exit 100; fi
  if [ -e "${mock}/no-gpgv" ]; then echo "E: gpgv, gpgv2 or gpgv1 required for verification, but neither seems installed" >&2; exit 100; fi ;;
*install*) cp "${mock}/package.deb" "$(dirname "$APT_CONFIG")/cache/archives/" ;;
esac`,
  );
  offer(OLD);
});

afterEach(() => rmSync(home, { recursive: true }));

function program(name: string, script: string): void {
  writeFileSync(join(mock, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(mock, name), 0o755);
}

/** Has the mock offer these versions. */
function offer(...versions: string[]): void {
  const lines = versions.map(
    (version) =>
      `echo " libcurl3-gnutls | ${version} | http://mirror.invalid/debian ${osRelease().codename}-backports/main amd64 Packages"`,
  );
  program('apt-cache', lines.join('\n'));
}

/** Builds the package that the mock downloads, of 2 January 2026. */
function buildPackage(version: string): void {
  const root = join(home, 'package');
  const libraries = join(root, 'usr', 'lib');
  mkdirSync(join(root, 'DEBIAN'), { recursive: true });
  cpSync(dirname(source), libraries, { recursive: true, verbatimSymlinks: true });
  const released = new Date('2026-01-02T12:00:00Z');
  for (const entry of readdirSync(libraries, { withFileTypes: true }))
    if (entry.isFile()) utimesSync(join(libraries, entry.name), released, released);
  const fields = [
    'Package: libcurl3-gnutls',
    `Version: ${version}`,
    'Architecture: all',
    'Maintainer: a test',
  ];
  writeFileSync(join(root, 'DEBIAN', 'control'), `${fields.join('\n')}\nDescription: a mock\n`);
  const { status, stderr } = spawnSync('dpkg-deb', ['--build', root, join(mock, 'package.deb')], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toMatchObject({ status: 0 });
}

function run(...words: string[]): ReturnType<typeof hopwiseHost> {
  return hopwiseHost(home, words, { PATH: `${mock}:${process.env.PATH}`, HOPWISE_LIBCURL: '' });
}

interface DoctorReport {
  checks: { name: string; ok: boolean; detail: string; fix: string }[];
}

function doctorSays(name: string): DoctorReport['checks'][number] | undefined {
  return (JSON.parse(run('doctor', '--json').out) as DoctorReport).checks.find(
    (check) => check.name === name,
  );
}

test('says that the private libcurl is up to date', () => {
  const { code, out } = run('setup', '--check');
  expect({ code, lines: out.trim().split('\n').slice(1) }).toEqual({
    code: 0,
    lines: [`Debian package ${OLD}, release date not recorded`, "update: newest of Debian's backports"],
  });
  expect(run('setup', '--update').out).toContain("newest of Debian's backports");
  expect(readdirSync(copies)).toEqual([OLD]);
});

test('takes a newer version in place of the former, and knows its age', () => {
  offer(OLD, NEW, '8.1.0-1~bpo12+1');
  buildPackage(NEW);
  expect(run('setup', '--check').out).toContain(
    `update: ${NEW} is available; run: ${COMMAND} setup --update\n`,
  );
  expect(doctorSays('libcurl update')).toEqual({
    name: 'libcurl update',
    ok: true,
    detail: `${NEW} is available`,
    fix: `run: ${COMMAND} setup --update`,
  });
  expect(readdirSync(copies)).toEqual([OLD]);
  const updated = JSON.parse(run('setup', '--update', '--json').out) as object;
  expect(updated).toMatchObject({
    state: 'updated',
    path: join(copies, NEW, basename(source)),
    package: { version: NEW, released: '2026-01-02' },
  });
  expect(readdirSync(copies)).toEqual([NEW]);
  expect(doctorSays('libcurl')?.detail).toMatch(
    new RegExp(`; Debian package ${NEW.replaceAll('+', '\\+')} of 2026-01-02, \\d+ days? old$`),
  );
  expect(doctorSays('libcurl update')?.detail).toBe("newest of Debian's backports");
});

test('doctor warns of a libcurl of more than 90 days, and works with it', () => {
  const release = (daysAgo: number) =>
    writeFileSync(
      join(copies, OLD, 'hopwise-package.json'),
      JSON.stringify({
        version: OLD,
        released: new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10),
      }),
    );
  release(89);
  expect(doctorSays('libcurl age')).toBeUndefined();
  release(92);
  expect(doctorSays('libcurl age')).toMatchObject({
    ok: true,
    detail: 'more than 90 days: security fixes are probably missing',
    fix: expect.stringMatching(/^Debian's backports have none newer: .*HOPWISE_LIBCURL/),
  });
  offer(NEW);
  expect(doctorSays('libcurl age')?.fix).toBe(`run: ${COMMAND} setup --update`);
  const { out } = run('doctor', '--offline');
  expect(out).toMatch(/^ok {3}HTTP\/3: /m);
  expect(out).toContain(
    `WARN libcurl age: more than 90 days: security fixes are probably missing\n     fix: run: ${COMMAND} setup --update\n`,
  );
});

test('keeps the former version when the newer one cannot be downloaded or does not load', () => {
  offer(NEW);
  const missing = run('setup', '--update');
  expect(missing).toMatchObject({ code: 1, out: '' });
  writeFileSync(join(mock, 'package.deb'), 'no package');
  expect(run('setup', '--update').code).toBe(1);
  expect(readdirSync(copies)).toEqual([OLD]);
  expect(existsSync(join(copies, OLD, basename(source)))).toBe(true);
});

test('lets an engine that restarts after an update use the new copy', async () => {
  vi.stubEnv('XDG_DATA_HOME', join(home, 'data'));
  vi.stubEnv('HOPWISE_LIBCURL', '');
  const engine = new Engine();
  try {
    expect((await engine.start()).path).toBe(join(copies, OLD, basename(source)));
    renameSync(join(copies, OLD), join(copies, NEW));
    process.kill((await engine.pid())!, 'SIGKILL');
    await vi.waitFor(
      async () => expect((await engine.start()).path).toBe(join(copies, NEW, basename(source))),
      10_000,
    );
  } finally {
    await engine.close();
    vi.unstubAllEnvs();
  }
});

test('says that it could not check without a network, and fails only to update', () => {
  writeFileSync(join(mock, 'offline'), '');
  const words = 'not checked: apt could not read the package lists: Failed to fetch: no network';
  const { code, out } = run('setup', '--check');
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(`update: ${words}\n`) });
  expect(doctorSays('libcurl update')).toEqual({ name: 'libcurl update', ok: true, detail: words, fix: '' });
  const { code: failed, err } = run('setup', '--update');
  expect({ failed, err }).toEqual({
    failed: 1,
    err: 'hopwise-host: nothing was changed: apt could not read the package lists: Failed to fetch: no network\n',
  });
});

test('says how to get what apt checks signatures with', () => {
  writeFileSync(join(mock, 'no-gpgv'), '');
  const { detail } = doctorSays('libcurl update')!;
  expect(detail).toMatch(/^not checked: .*: it needs gpgv to check signatures: apt-get install gpgv$/);
});

test('does not ask Debian with --offline', () => {
  writeFileSync(join(mock, 'offline'), '');
  expect(run('setup', '--check', '--offline').out).not.toContain('update:');
});
