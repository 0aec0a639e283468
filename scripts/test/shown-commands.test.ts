/** Commands that hopwise shows or prints run programs that are installed: they fetch no package by its name. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { ROOT } from '@hopwise/lab/paths';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MAY_IMPORT } from '../packages.mjs';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-commands-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function writeLauncher(path: string): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '#!/bin/sh\n', { mode: 0o755 });
  return file;
}

/** Lines of code below these folders, without comments, as `file: line`. */
function codeLines(folders: string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(ts|mjs|js|html)$/.test(entry.name))
      .flatMap(({ parentPath, name }) => {
        const path = join(parentPath, name);
        const lines = readFileSync(path, 'utf8').split('\n');
        const code = lines.filter((line) => !/^\s*(\*|\/\/|\/\*)/.test(line));
        return code.map((line) => `${relative(ROOT, path)}: ${line.trim()}`);
      }),
  );
}

/** Ways to run a package by its name, which fetch it where it is not installed. */
const FETCHES = /\b(npx|npm exec|npm x|bunx|pnpx|(pnpm|yarn) dlx)\s/;

test('no program shows a command that fetches a package by its name', () => {
  const folders = Object.keys(MAY_IMPORT).flatMap((name) => [`${name}/src`, `${name}/bin`]);
  const lines = codeLines(folders.filter((folder) => existsSync(join(ROOT, folder))));
  expect(lines.length).toBeGreaterThan(10_000);
  expect(lines.filter((line) => FETCHES.test(line))).toEqual([]);
});

test('texts that people read name the helper by the path of its launcher', () => {
  const bare =
    /(?<![\w.'/`-])hopwise-host (ca|doctor|install|pin|probe|resolver|setup|status|uninstall|unpin)\b/;
  expect('run: hopwise-host ca trust').toMatch(bare);
  const lines = codeLines(['extension/src', 'native-host/src', 'native-host/bin']);
  expect(lines.filter((line) => bare.test(line))).toEqual([]);
});

/** The shell's own reading of the command `ca trust` of a helper in this environment. */
function readCommand(environment: NodeJS.ProcessEnv): string[] {
  const script = join(folder, 'print-command.mjs');
  const source = JSON.stringify(join(ROOT, 'native-host/src/base/launcher.ts'));
  writeFileSync(script, `import(${source}).then((one) => console.log(one.launcherCommand('ca trust')))`);
  const env = {
    ...process.env,
    HOPWISE_LAUNCHER: '',
    HOPWISE_PACKAGE: '',
    HOPWISE_CALLED_AS: '',
    ...environment,
  };
  const command = execFileSync(process.execPath, [script], { encoding: 'utf8', env });
  return execFileSync('/bin/sh', ['-c', `printf '%s\\n' ${command}`], { encoding: 'utf8' })
    .trimEnd()
    .split('\n');
}

describe('the helper’s command runs', () => {
  test.each(['data', "it's my data"])('the launcher that the installer wrote to %s', (name) => {
    const launcher = writeLauncher(`${name}/hopwise/hopwise-host.sh`);
    expect(readCommand({ XDG_DATA_HOME: join(folder, name) })).toEqual([launcher, 'ca', 'trust']);
  });

  test('the launcher that started it', () => {
    const installed = writeLauncher('data/hopwise/hopwise-host.sh');
    const used = writeLauncher('bin/hopwise-host');
    const environment = { XDG_DATA_HOME: dirname(dirname(installed)), HOPWISE_LAUNCHER: used };
    expect(readCommand(environment)).toEqual([used, 'ca', 'trust']);
  });

  test('the npm script that started it', () => {
    const environment = { XDG_DATA_HOME: folder, HOPWISE_CALLED_AS: 'npm run hopwise-host --' };
    expect(readCommand(environment).join(' ')).toBe('npm run hopwise-host -- ca trust');
  });

  test('Node with its script where no launcher is installed', () => {
    const script = join(folder, 'print-command.mjs');
    expect(readCommand({ XDG_DATA_HOME: folder })).toEqual([process.execPath, script, 'ca', 'trust']);
  });
});
