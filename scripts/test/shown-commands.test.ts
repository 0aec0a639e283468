/** Commands that hopwise shows or prints run programs that are installed: they fetch no package by its name. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ROOT } from '@hopwise/lab/paths';
import { expect, test } from 'vitest';
import { launcherCommand } from '../../native-host/src/base/launcher.ts';

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
  const programs = ['contract', 'pageload-emulator', 'native-host', 'extension', 'lab', 'bench', 'e2e'];
  const folders = programs.flatMap((name) => [`${name}/src`, `${name}/bin`]);
  const lines = codeLines(folders.filter((folder) => existsSync(join(ROOT, folder))));
  expect(lines.length).toBeGreaterThan(10_000);
  expect(lines.filter((line) => FETCHES.test(line))).toEqual([]);
});

test('texts that a browser shows name the helper by the path of its launcher', () => {
  const bare = /(?<![\w.'/-])hopwise-host (ca|doctor|install|pin|probe|setup|status|uninstall|unpin)\b/;
  expect('run: hopwise-host ca trust').toMatch(bare);
  expect(codeLines(['extension/src', 'native-host/src/pins']).filter((line) => bare.test(line))).toEqual([]);
});

test('the helper’s command runs its launcher from any folder', () => {
  const words = (home: string) => {
    const environment = { ...process.env, XDG_DATA_HOME: home };
    const source = JSON.stringify(join(ROOT, 'native-host/src/base/launcher.ts'));
    const code = `import(${source}).then((one) => console.log(one.launcherCommand('ca trust')))`;
    const command = execFileSync(process.execPath, ['-e', code], { encoding: 'utf8', env: environment });
    // The shell's own reading of the command, one word a line.
    return execFileSync('/bin/sh', ['-c', `printf '%s\\n' ${command}`], { encoding: 'utf8' }).split('\n');
  };
  for (const home of ['/data', "/it's my data"]) {
    expect(words(home)).toEqual([`${home}/hopwise/hopwise-host.sh`, 'ca', 'trust', '']);
  }
  expect(launcherCommand('ca trust')).toMatch(/hopwise-host\.sh'? ca trust$/);
});
