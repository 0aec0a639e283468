/** The installers for macOS and Windows, as far as Linux can run them. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  macosInstaller,
  macosUninstaller,
  windowsInstaller,
  windowsUninstaller,
} from '../../package/untried.ts';

const HOST = 'native-host/bin/hopwise-host.mjs';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'hopwise untried ')));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the installer for macOS', () => {
  const installed = () => join(folder, 'home/Library/Application Support/hopwise/helper');

  beforeEach(() => {
    const files: [string, string, number][] = [
      [HOST, 'console.log(import.meta.filename, ...process.argv.slice(2));', 0o644],
      ['install.sh', macosInstaller(), 0o755],
      ['uninstall.sh', macosUninstaller(), 0o755],
    ];
    for (const [path, text, mode] of files) {
      mkdirSync(dirname(join(folder, 'download', path)), { recursive: true });
      writeFileSync(join(folder, 'download', path), text, { mode });
    }
  });

  const environment = { HOME: '', PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  const run = (script: string, words: string[] = []) =>
    execFileSync(script, words, { encoding: 'utf8', env: { ...environment, HOME: join(folder, 'home') } });

  test('copies and registers the helper, again too, and the uninstaller removes both', () => {
    const install = join(folder, 'download/install.sh');
    expect(run(install)).toBe(`${installed()}/${HOST} install\n`);
    expect(run(install)).toBe(`${installed()}/${HOST} install\n`);
    rmSync(join(folder, 'download'), { recursive: true });
    expect(run(join(installed(), 'uninstall.sh'), ['--all'])).toBe(
      `${installed()}/${HOST} uninstall --all\n`,
    );
    expect(existsSync(installed())).toBe(false);
  });

  test.each([
    ['without Node', '#!/bin/sh\nexit 127\n'],
    ['with an old Node', '#!/bin/sh\nexit 1\n'],
  ])('changes nothing %s', (_, node) => {
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'node'), node, { mode: 0o755 });
    for (const name of ['dirname', 'sh']) symlinkSync(`/bin/${name}`, join(bin, name));
    const env = { HOME: join(folder, 'home'), PATH: bin };
    const { status, stderr } = spawnSync(join(folder, 'download/install.sh'), { encoding: 'utf8', env });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: 'expected Node 20 or later on the PATH: install it, then run this again\n',
    });
    expect(existsSync(join(folder, 'home'))).toBe(false);
  });
});

describe('the scripts for Windows', () => {
  /** Nothing here runs PowerShell: only what both scripts must agree on is compared. */
  const line = (script: string, start: string): string | undefined =>
    script.split('\r\n').find((one) => one.startsWith(start));

  test('install and uninstall the same folder', () => {
    const folder = "$folder = Join-Path $env:LOCALAPPDATA 'hopwise\\helper'";
    for (const script of [windowsInstaller(), windowsUninstaller()])
      expect(line(script, '$folder')).toBe(folder);
    expect(line(windowsInstaller(), '& $node')).toBe(`& $node.Source (Join-Path $folder '${HOST}') install`);
    expect(line(windowsUninstaller(), '& node')).toBe(`& node (Join-Path $folder '${HOST}') uninstall @args`);
  });

  test('have balanced quotes and brackets', () => {
    for (const script of [windowsInstaller(), windowsUninstaller()]) {
      const code = script.replaceAll(/#.*|'[^']*'|"[^"]*"/g, '');
      expect(code).not.toMatch(/['"]/);
      for (const [open, close] of ['()', '{}', '[]'] as const)
        expect(code.split(open!).length).toBe(code.split(close!).length);
    }
  });
});
