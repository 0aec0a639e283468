import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { launcherFile } from '../../native-host/src/install/install.ts';
import { helperCommand } from '../src/helper/helper-command.ts';
import { NO_HELPER } from '../src/helper/helper-port.ts';
import { isPinnable } from '../src/pins/pinnable-origin.ts';

const LINUX = 'Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0.0.0';
const WINDOWS = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/156.0.0.0';

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hopwise it's home "));
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true });
});

/** Runs a command in a POSIX shell, with a launcher that prints each of its arguments on a line of its own. */
function runWithPrintingLauncher(command: string): string[] {
  const launcher = launcherFile();
  mkdirSync(dirname(launcher), { recursive: true });
  writeFileSync(launcher, '#!/bin/sh\nprintf "%s\\n" "$@"\n');
  chmodSync(launcher, 0o755);
  return execFileSync('/bin/sh', ['-c', command], { encoding: 'utf8' }).split('\n').slice(0, -1);
}

test.each([
  ['the default data folder', undefined],
  ['the data folder that XDG_DATA_HOME names', 'data'],
])('a command runs the launcher that the installer writes to %s', (_name, folder) => {
  vi.stubEnv('HOME', home);
  vi.stubEnv('XDG_DATA_HOME', folder && join(home, folder));
  const command = helperCommand('ca create', ['https://a.example', 'https://b.example:8443'], LINUX);
  expect(runWithPrintingLauncher(command)).toEqual([
    'ca',
    'create',
    'https://a.example',
    'https://b.example:8443',
  ]);
});

test.each([
  'https://a;touch x',
  'https://$(id)',
  'https://`id`',
  "https://it's",
  '--help',
  'a b\\',
  '"',
  '*',
])('the shell takes %s as it is', (value) => {
  vi.stubEnv('HOME', home);
  vi.stubEnv('XDG_DATA_HOME', undefined);
  expect(runWithPrintingLauncher(helperCommand('pin', [value], LINUX))).toEqual(['pin', value]);
});

/** What a hostile page may have in the names of its hosts. */
const HOSTILE_HOSTS = [
  'a;rm -rf b',
  'a;reboot',
  'a$(id)',
  'a`id`',
  "a'b",
  'a"b',
  'a&b',
  'a|b',
  'a>b',
  'a{b,c}',
  'a!b',
  'a*',
  '~a',
  'a\nb',
  'a\u202eb',
  'a%3bb',
];

test.each(HOSTILE_HOSTS)('no pin, and so no command, is offered for the host %j', (host) => {
  const origin = `https://${host}`;
  expect(isPinnable(origin)).toBe(false);
  if (!URL.canParse(origin)) return;
  const serialized = new URL(origin).origin;
  // Some are turned into names without such characters.
  if (/[^\w:/.-]/.test(serialized)) expect(isPinnable(serialized)).toBe(false);
});

test('every origin that can be pinned is one word of plain characters', () => {
  const hostile = fc.string({ unit: fc.constantFrom(...'ab1.-_:;$`\'"&|<>(){}[]*!~%\\ \n\t#?@^,=') });
  const named = fc.oneof(hostile, fc.domain(), fc.webAuthority());
  fc.assert(
    fc.property(named, (host) => {
      const text = `https://${host}`;
      const serialized = URL.canParse(text) ? new URL(text).origin : text;
      for (const origin of [text, serialized]) {
        if (isPinnable(origin)) expect(origin).toMatch(/^https:\/\/[\w.:[\]-]+$/);
      }
    }),
    { numRuns: 5000 },
  );
});

test('the shell takes every origin that can be pinned as it is', () => {
  vi.stubEnv('HOME', home);
  vi.stubEnv('XDG_DATA_HOME', undefined);
  const origins = fc.sample(
    fc.domain().filter((name) => isPinnable(`https://${name}`)),
    50,
  );
  const values = origins.map((name) => `https://${name}`);
  expect(runWithPrintingLauncher(helperCommand('ca create', values, LINUX))).toEqual([
    'ca',
    'create',
    ...values,
  ]);
});

test('a command for Windows is one of PowerShell, which doubles quotes', () => {
  expect(helperCommand('pin', ["it's"], WINDOWS)).toBe(
    "& \"$env:LOCALAPPDATA\\hopwise\\hopwise-host.cmd\" pin 'it''s'",
  );
});

test('no command on screen names a package that a registry could serve', () => {
  const commands = [helperCommand('ca trust', [], LINUX), helperCommand('ca trust', [], WINDOWS)];
  for (const text of [...commands, NO_HELPER]) expect(text).not.toMatch(/\b(npx|npm|pnpm|yarn|bunx)\b/);
  for (const command of commands) expect(command).toMatch(/hopwise-host\.(sh|cmd)\b/);
});
