/** What people mistype for `hopwise-server`: one line that says where and what was expected, and nothing is begun. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { drawShare } from '../../scripts/suites/draw-share.ts';

const BIN = fileURLToPath(new URL('../bin/hopwise-server.ts', import.meta.url));

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'hopwise-server-'));
  mkdirSync(join(dir, 'folder'));
  mkdirSync(join(dir, 'odd'));
  writeFileSync(join(dir, 'odd/learned.json'), '{"a": 1}');
  writeFileSync(join(dir, 'access.log'), '');
  // Even root cannot read it.
  symlinkSync('circle.log', join(dir, 'circle.log'));
});
afterAll(() => rmSync(dir, { recursive: true }));

function ask(words: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--conditions=source', BIN, ...words], {
    encoding: 'utf8',
    cwd: dir,
  });
  return { status, stdout, stderr };
}

const list = () => readdirSync(dir, { recursive: true });
const RUN = ['run', '--log', 'access.log', '--port', '0'];

const WRONG: readonly (readonly [readonly string[], string])[] = [
  [['fly'], "unknown command 'fly' (see hopwise-server --help)"],
  [['help', 'fly'], "unknown command 'fly' (see hopwise-server --help)"],
  [['--nope'], 'unknown option --nope (see hopwise-server --help)'],
  [['run'], 'required option --log not specified (see hopwise-server run --help)'],
  [['run', '--log'], 'option --log argument missing (see hopwise-server run --help)'],
  [['run', '--log', 'none.log'], 'none.log: expected a readable file, but there is none'],
  [['run', '--log', 'folder'], 'folder: expected a readable file, but it is a folder'],
  [['run', '--log', 'circle.log'], 'circle.log: expected a readable file, but its links lead in a circle'],
  [[...RUN, '--nope'], 'unknown option --nope (see hopwise-server run --help)'],
  [[...RUN, 'extra'], 'run: expected no arguments, got extra'],
  [[...RUN, '--interval', '60s'], '--interval: expected a whole number from 50 to 60000, got "60s"'],
  [[...RUN, '--port', '99999'], '--port: expected a whole number from 0 to 65535, got "99999"'],
  [[...RUN, '--windows', '5,6'], '--windows: expected up to 12 windows, 10 among them, got "5,6"'],
  [[...RUN, '--objective', 'p99'], '--objective: expected one of p80, p90, mean, loss, got "p99"'],
  [
    [...RUN, '--state', 'access.log'],
    "--state: expected a folder for the agent's files, but there is a file of that name: access.log",
  ],
  [[...RUN, '--state', 'odd'], 'odd/learned.json: expected what the agent writes; remove it to begin anew'],
  [['undo', '--table', '254'], '--table: expected a whole number from 1 to 252, got "254"'],
  [['undo', 'extra'], 'undo: expected no arguments, got extra'],
  [['report', '--state'], 'option --state argument missing (see hopwise-server report --help)'],
  [
    ['report', '--state', 'none'],
    '--state none: expected the folder of an agent that has learned, but nothing is there',
  ],
  [['report', '--state', 'odd'], 'odd/learned.json: expected what the agent writes; remove it to begin anew'],
  [['report', 'extra'], 'report: expected no arguments, got extra'],
  [['log-format', '--nope'], 'unknown option --nope (see hopwise-server log-format --help)'],
];

it.each(drawShare(WRONG, 8, ([words]) => words.join(' ')))('%j is answered in one line', (words, line) => {
  // The key of hashes is made before what was learned is read.
  const before = list().filter((name) => name !== 'odd/key');
  const { status, stdout, stderr } = ask(words);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(/^hopwise-server: [^\n]+\n$/);
  expect(stderr).not.toMatch(/\berror:|\bE[A-Z]{4,}\b|undefined/);
  expect(stderr).toContain(line);
  expect(list().filter((name) => name !== 'odd/key')).toEqual(before);
});

it.each([
  [['--help']],
  [['run', '--help']],
  [['undo', '--help']],
  [['report', '--help']],
  [['log-format', '--help']],
])('%j describes it and does nothing else', (words) => {
  const before = list();
  const { status, stdout, stderr } = ask(words);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/^Usage: hopwise-server /);
  expect(list()).toEqual(before);
});

it('has a version', () => {
  expect(ask(['--version'])).toEqual({
    status: 0,
    stderr: '',
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
  });
});
