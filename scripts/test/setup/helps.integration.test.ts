/** `--help` of every npm script, and arguments that it cannot use. Those of benches: bench/test/. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from '@hopwise/lab/paths';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SUITE_NAMES } from '../../setup/arguments.mjs';
import { COMMANDS } from '../../setup/commands.mjs';
import { HELPS } from '../../setup/helps.mjs';
import { drawShare } from '../../suites/draw-share.ts';
import { SUITES } from '../../suites/suites.ts';

const { scripts }: { scripts: Record<string, string> } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
);

/** Arguments of `scripts/hopwise.mjs`, by the name of the npm script. */
const ARGUMENTS = Object.fromEntries(
  Object.entries(scripts).map(([name, line]) => [
    name,
    /^node scripts\/hopwise\.mjs (.*)$/.exec(line)![1]!.split(' '),
  ]),
);
const isCommand = (name: string) => Object.hasOwn(COMMANDS, name) && !Object.hasOwn(HELPS, name);
/** Scripts that parse their arguments by a package. */
const WITH_PACKAGES = Object.entries(ARGUMENTS).filter(([, [name]]) => isCommand(name!));
const WITHOUT_PACKAGES = Object.entries(ARGUMENTS).filter(([, [name]]) => !isCommand(name!));

function expectHelp({ status, stdout, stderr }: SpawnSyncReturns<string>, line: RegExp): void {
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(line);
  expect(stdout.trim().split('\n').length).toBeGreaterThan(1);
}

test('every npm script is asked for its help', () => {
  expect(Object.keys(scripts).length).toBeLessThanOrEqual(14);
  expect(WITH_PACKAGES.map(([name]) => name)).toEqual([
    'start',
    'hopwise',
    'hopwise-host',
    'lab',
    'research',
  ]);
  expect([...WITH_PACKAGES, ...WITHOUT_PACKAGES].length).toBe(Object.keys(scripts).length);
});

test('help and arguments of npm test name all suites', () => {
  for (const name of Object.keys(SUITES)) expect(HELPS.test).toMatch(new RegExp(`\\b${name}\\b`));
  expect(SUITE_NAMES).toEqual(Object.keys(SUITES));
});

/** What the scripts are made of, without any package. */
let checkout: string;
beforeAll(() => {
  checkout = mkdtempSync(join(tmpdir(), 'hopwise-helps-'));
  const isSource = (path: string) => !/(node_modules|dist|__pycache__)$/.test(path);
  for (const path of ['scripts', 'bench/src/registry.mjs', 'model/python', 'package.json']) {
    mkdirSync(dirname(join(checkout, path)), { recursive: true });
    cpSync(join(ROOT, path), join(checkout, path), { recursive: true, filter: isSource });
  }
});
afterAll(() => rmSync(checkout, { recursive: true, force: true }));

describe('without any package, the help', () => {
  test.each(drawShare(WITHOUT_PACKAGES, 4, ([name]) => `help of ${name}`))(
    'of npm run %s describes it and does nothing else',
    (name, words) => {
      const before = readdirSync(checkout, { recursive: true });
      const answer = spawnSync(
        process.execPath,
        [join(checkout, 'scripts/hopwise.mjs'), ...words, '--help'],
        {
          encoding: 'utf8',
          cwd: checkout,
        },
      );
      expectHelp(answer, name === 'model' ? /^usage: npm run model -- / : /^npm (run )?[a-z]/);
      expect(readdirSync(checkout, { recursive: true })).toEqual(before);
    },
  );
});

/** Words that each script cannot use, by its name in `hopwise.mjs`. */
const WRONG: Readonly<Record<string, string[]>> = {
  test: [
    '--nope',
    'unit',
    '--only',
    '--only nope',
    '--only unit,,go',
    '--since HEAD',
    '--changed --only go',
    '--seed',
  ],
  fresh: ['--nope', '--only', '--only root', '--only root-start,nope'],
  package: [
    'nope',
    '--nope',
    'command nope',
    'playwright',
    'playwright a b',
    'playwright --to',
    'release now',
  ],
  setup: ['--nope', 'all', '--check extra'],
  build: ['--nope', 'extension'],
  lint: ['--fix', 'scripts'],
  bench: ['nope', '--nope', 'toString'],
  'no-such-script': [''],
};

const REFUSED = Object.entries(WRONG).flatMap(([name, all]) => all.map((words) => [name, words] as const));

test.each(drawShare(REFUSED, 6, (each) => each.join(' ')))(
  'without any package, npm run %s -- %s is refused in one line, and nothing is set up',
  (name, words) => {
    const before = readdirSync(checkout, { recursive: true });
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(checkout, 'scripts/hopwise.mjs'), name, ...words.split(' ').filter(Boolean)],
      { encoding: 'utf8', cwd: checkout },
    );
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^hopwise: [^\n]+\n$/);
    expect(readdirSync(checkout, { recursive: true })).toEqual(before);
  },
);

test.each(WITH_PACKAGES)('the help of npm run %s describes it', (_, [name, ...words]) => {
  const script = join(ROOT, COMMANDS[name!]!.script);
  const answer = spawnSync(process.execPath, [script, ...words, '--help'], { encoding: 'utf8', cwd: ROOT });
  expectHelp(answer, /^Usage: /m);
});

test.each(['build', 'lint'])('npm run %s refuses arguments in one line', (name) => {
  const script = join(ROOT, 'scripts/hopwise.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, name, '--fix'], {
    encoding: 'utf8',
  });
  expect({ status, stdout, stderr }).toEqual({
    status: 2,
    stdout: '',
    stderr: `hopwise: expected no arguments, got --fix (see npm run ${name} -- --help)\n`,
  });
});

// No program is found on this path, so that each would first be set up.
test.each(drawShare(['start', 'lab record', 'research papers', 'bench product', 'bench flows'], 2))(
  'npm run %s refuses a wrong option before it sets anything up',
  (command) => {
    const words = [join(ROOT, 'scripts/hopwise.mjs'), ...command.split(' '), '--no-such-option'];
    const env = { ...process.env, PATH: '/nonexistent' };
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', env });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^hopwise: [^\n]*--no-such-option[^\n]*\n$/);
  },
);
