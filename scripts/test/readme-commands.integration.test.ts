/** Every command that a README shows is run, here or by the test that is named for it. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from '@hopwise/lab/paths';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawShare } from '../suites/draw-share.ts';

const READMES = [
  'README.md',
  'docs/examples/check/README.md',
  'e2e/README.md',
  'e2e/examples/playwright/README.md',
  'extension/README.md',
  'lab/README.md',
  'bench/README.md',
  'model/python/README.md',
  'pageload-emulator/README.md',
  'scripts/package/hopwise/README.md',
];

/** Commands that are run elsewhere, with the test that does. */
const ELSEWHERE: readonly (readonly [RegExp, string])[] = [
  [/^npm start\b/, 'e2e/specs/start-demo.spec.ts'],
  [/^npm test\b/, 'scripts/test/suites/main.integration.test.ts'],
  [
    /^npm run (--silent )?hopwise-host -- (install|doctor|probe)\b/,
    'native-host/test/bin/cli.integration.test.ts',
  ],
  [/^npm run model -- corpus\b/, 'model/python/tests/test_corpus.py'],
  [/^npm run model -- \w+/, 'model/python/tests/test_command.py'],
  [/^npm run lab -- /, 'lab/test/main.drawn.integration.test.ts'],
  [/^npm run bench\b/, 'bench/test/registry.test.ts'],
  [/^npm run package -- playwright PLACE\/hopwise\b/, 'e2e/specs/replay-example-fixture.drawn.spec.ts'],
  [/^npm install$/, 'e2e/specs/replay-example-fixture.drawn.spec.ts'],
  [/^npx playwright (test|show-report)$/, 'e2e/specs/replay-example-fixture.drawn.spec.ts'],
  [/^npm run package -- command$/, 'scripts/test/package/command.drawn.integration.test.ts'],
  [
    /^mkdir -p PLACE\/hopwise && cp out\/package\/hopwise-\*\.tgz PLACE\/hopwise\/$/,
    'scripts/test/package/command.drawn.integration.test.ts',
  ],
];

/** The command of this repository, however a README calls it. */
const HOPWISE =
  /^(?:npm run (?:--silent )?hopwise --|npx (?:--no-install hopwise|\.\/hopwise-(?:VERSION|[\d.]+)\.tgz)) (.*)$/;
const INSTALL = /^(?:cd PLACE && )?npm install --save-dev (.*)$/;

interface Shown {
  readme: string;
  command: string;
}

/** Lines of code blocks that are commands, without comments, with the variables that earlier lines set. */
function commandsOf(readme: string): Shown[] {
  const variables = new Map<string, string>();
  return readFileSync(join(ROOT, readme), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, name, value] = /^ {4}([A-Z]+)=(\S+)$/.exec(line) ?? [];
      if (name !== undefined) variables.set(name, value!);
      const [, command] = /^ *((?:npm|npx|mkdir|cd) .*?)(?: +#.*)?$/.exec(line) ?? [];
      if (command === undefined || /[│─]/.test(command)) return [];
      return [{ readme, command: command.replace(/\$([A-Z]+)/g, (all, each) => variables.get(each) ?? all) }];
    });
}

const SHOWN = READMES.flatMap(commandsOf);
const OWN = SHOWN.filter(({ command }) => HOPWISE.test(command));
const OTHERS = SHOWN.filter(({ command }) => !HOPWISE.test(command) && !INSTALL.test(command));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-readme-'));
  const sample = join(ROOT, 'e2e/examples/playwright/pages/app.json.gz');
  for (const name of ['page.har', 'hopwise-example.org.json']) copyFileSync(sample, join(folder, name));
  writeFileSync(join(folder, 'questions.jsonl'), '{"id": "a", "path": "page.har"}\n');
  writeFileSync(join(folder, 'budget.json'), '{"loadTimeMs": 60000}');
});
afterAll(() => rmSync(folder, { recursive: true }));

test('the READMEs show commands', () => {
  expect(OWN.length).toBeGreaterThan(12);
});

test.each(drawShare(OWN, 5, ({ readme, command }) => `${readme} ${command}`))(
  '$command ($readme) works',
  ({ readme, command }) => {
    const [, words = ''] = HOPWISE.exec(command)!;
    const program = [process.execPath, join(ROOT, 'pageload-emulator/bin/hopwise.mjs')].join(' ');
    // Files of the checkout are named from its root, those of a person from the folder where they are.
    const cwd = readme === 'README.md' && !words.includes('page.har') ? ROOT : folder;
    const line = `${program} ${words.replace('pages/*.har', 'page.har')}`;
    const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { cwd, encoding: 'utf8' });
    // The doctor judges this machine.
    if (!words.startsWith('doctor')) expect(status, stderr).toBe(0);
    expect(stderr).not.toMatch(/^hopwise: /m);
    expect(stdout).not.toBe('');
  },
);

test.each(OTHERS)('$command ($readme) is run by another test', ({ command }) => {
  const [, file] = ELSEWHERE.find(([form]) => form.test(command)) ?? [];
  expect(file, 'name the test that runs it in ELSEWHERE').toBeDefined();
  expect(existsSync(join(ROOT, file!))).toBe(true);
});

describe('what npm installs', () => {
  const installs = SHOWN.flatMap(({ readme, command }) => {
    const [, packages] = INSTALL.exec(command) ?? [];
    return packages === undefined ? [] : packages.split(' ').map((name) => ({ readme, name }));
  });

  test.each(installs)('$name ($readme) is a file, or a package that we do not publish', ({ name }) => {
    // `dir/file.tgz` would be a repository of somebody else's account on a code host.
    if (name.endsWith('.tgz')) expect(name).toMatch(/^\.\//);
    else expect(name).toBe('@playwright/test');
  });
});

test('paths are taken from the folder that npm is called in', () => {
  const place = join(ROOT, 'docs/examples/check');
  const page = join('..', '..', '..', 'e2e/examples/playwright/pages/app.json.gz');
  const words = ['check', page, '--networks', 'networks.json', '--budget', 'budget.json'];
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'hopwise', '--', ...words], {
    cwd: place,
    encoding: 'utf8',
    env: { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: process.env.HOME },
  });
  expect(status, stderr).toBe(0);
  expect(stdout).toContain('Within the budget');
});
