import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { helperCommand } from '../../src/helper/helper-command.ts';
import { english } from '../../src/language/english.ts';
import { german } from '../../src/language/german.ts';
import { isPinnable } from '../../src/pins/pinnable-origin.ts';

const LINUX = 'Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0.0.0';
const WINDOWS = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/156.0.0.0';

let folder: string;
let launcher: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hopwise it's $HOME "));
  launcher = join(folder, 'hopwise-host');
});

afterEach(() => rmSync(folder, { recursive: true }));

/** Runs a command in a POSIX shell, with a launcher that prints each of its arguments on a line of its own. */
function runWithPrintingLauncher(command: string): string[] {
  writeFileSync(launcher, '#!/bin/sh\nprintf "%s\\n" "$@"\n');
  chmodSync(launcher, 0o755);
  return execFileSync('/bin/sh', ['-c', command], { encoding: 'utf8' }).split('\n').slice(0, -1);
}

test('a command runs the launcher that the helper reported, in a folder with special characters', () => {
  const command = helperCommand(
    launcher,
    'ca create',
    ['https://a.example', 'https://b.example:8443'],
    LINUX,
  );
  expect(runWithPrintingLauncher(command)).toEqual([
    'ca',
    'create',
    'https://a.example',
    'https://b.example:8443',
  ]);
});

test('a launcher of plain characters is not quoted', () => {
  expect(helperCommand('/usr/bin/hopwise-host', 'ca trust', [], LINUX)).toBe(
    '/usr/bin/hopwise-host ca trust',
  );
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
  expect(runWithPrintingLauncher(helperCommand(launcher, 'pin', [value], LINUX))).toEqual(['pin', value]);
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
  const serialised = new URL(origin).origin;
  // Some are turned into names without such characters.
  if (/[^\w:/.-]/.test(serialised)) expect(isPinnable(serialised)).toBe(false);
});

test('every origin that can be pinned is one word of plain characters', () => {
  const hostile = fc.string({ unit: fc.constantFrom(...'ab1.-_:;$`\'"&|<>(){}[]*!~%\\ \n\t#?@^,=') });
  const named = fc.oneof(hostile, fc.domain(), fc.webAuthority());
  fc.assert(
    fc.property(named, (host) => {
      const text = `https://${host}`;
      const serialised = URL.canParse(text) ? new URL(text).origin : text;
      for (const origin of [text, serialised]) {
        if (isPinnable(origin)) expect(origin).toMatch(/^https:\/\/[\w.:[\]-]+$/);
      }
    }),
    { numRuns: 5000 },
  );
});

test('the shell takes every origin that can be pinned as it is', () => {
  const origins = fc.sample(
    fc.domain().filter((name) => isPinnable(`https://${name}`)),
    50,
  );
  const values = origins.map((name) => `https://${name}`);
  expect(runWithPrintingLauncher(helperCommand(launcher, 'ca create', values, LINUX))).toEqual([
    'ca',
    'create',
    ...values,
  ]);
});

test('a command for Windows is one of PowerShell, which doubles quotes', () => {
  const path = "C:\\Users\\it's me\\hopwise-host.cmd";
  expect(helperCommand(path, 'pin', ["it's"], WINDOWS)).toBe(
    "& 'C:\\Users\\it''s me\\hopwise-host.cmd' pin 'it''s'",
  );
});

test('the text for a missing helper names no package that a registry could serve', () => {
  expect([english.helperNotInstalled, german.helperNotInstalled].join()).not.toMatch(
    /\b(npx|npm|pnpm|yarn|bunx)\b/,
  );
});
