/**
 * What people mistype for `npm run lab` and `npm run bench`: the cases follow from what each command's help says of its options, so that
 * an option added later has its own.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '@hopwise/lab/paths';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { drawShare } from '../../scripts/suites/draw-share.ts';
import { BENCHES } from '../src/registry.mjs';

const run = promisify(execFile);

/** Cases of all commands in `npm test`. */
const SHARE = 6;
const AT_ONCE = 3;
/** A command that began to work instead would take longer. */
const LIMIT_MS = 60_000;
const LAB = join(ROOT, 'lab/dist/main.js');
/** What is said while files are read. */
const PROGRESS = /^ *\d+\.\d s /;

/** Commands by name, each with the words that begin it. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  lab: [LAB],
  ...Object.fromEntries(
    ['summary', 'advise', 'check', 'gauntlet', 'record', 'requests'].map((name) => [
      `lab ${name}`,
      [LAB, name],
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(BENCHES).map(([name, { script }]) => [`bench ${name}`, [join(ROOT, script)]]),
  ),
};

interface Answer {
  code: number;
  stdout: string;
  stderr: string;
  /** Names of what the command left in its folder. */
  written: string[];
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hopwise-mistyped-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a command in a folder of its own. */
async function ask(words: readonly string[]): Promise<Answer> {
  const cwd = await mkdtemp(join(folder, 'one-'));
  const answer = await run(process.execPath, words, { timeout: LIMIT_MS, cwd }).then(
    (output) => ({ code: 0, ...output }),
    ({ code, stdout, stderr }: { code?: number; stdout: string; stderr: string }) => ({
      code: code ?? -1,
      stdout,
      stderr,
    }),
  );
  return { ...answer, written: await readdir(cwd) };
}

/** Options with a value, by their names: `out` has `dir`. Files that a command writes have `new file`. */
function readOptions(help: string): [name: string, value: string][] {
  const [, options = ''] = /^Options:\n(.*?)(?:\n\n|$(?!\n))/ms.exec(help) ?? [];
  return [...options.matchAll(/^ {2}--([a-z-]+) <([^>]+)> +(.*)/gm)].map(([, name, value, what]) => [
    name!,
    value === 'file' && /\bwrite\b/.test(what!) ? 'new file' : value!,
  ]);
}

/** Arguments that a command needs, with something in their places. */
function readArguments(help: string): string[] {
  const [, usage = ''] = /^Usage: (.*)$/m.exec(help) ?? [];
  return [...usage.matchAll(/<([^>]+)>/g)].map(([, name]) =>
    name === 'url' ? 'https://example.org/' : 'none/such',
  );
}

function listMistyped(help: string): string[][] {
  const needed = readArguments(help);
  const first = [['--no-such-option'], [...needed, '--jsno'], needed.length === 0 ? ['extra'] : []];
  const more = readOptions(help).flatMap(([name, value]): string[][] => {
    const option = `--${name}`;
    if (/^(n|s|ms|number|seconds|bytes)$/.test(value)) {
      return [[option], [...needed, option, 'x'], [...needed, option, '-1'], [...needed, option, '1e30']];
    }
    if (value === 'dir' || value === 'new file') return [[option], [...needed, option, '/dev/null/such']];
    if (value === 'file') return [[option], [...needed, option, 'none.json']];
    return [[option], ...(CHOSEN.test(value) ? [[...needed, option, 'nope']] : [])];
  });
  return [...first, ...more];
}

/** Values of which only some are known. */
const CHOSEN = /^(list|which|version|kind|treatment|stack|stacks|protocol)$/;

test('whatever is mistyped for the lab or a bench is answered in one line, and nothing is begun', {
  timeout: 600_000,
}, async () => {
  const names = drawShare(Object.keys(COMMANDS), 2, (name) => `mistyped ${name}`);
  const asked: [name: string, words: string[]][] = [];
  for (const name of names) {
    const { stdout } = await ask([...COMMANDS[name]!, '--help']);
    asked.push(...listMistyped(stdout).map((words): [string, string[]] => [name, words]));
  }
  const left = drawShare(asked, SHARE, ([name, words]) => `${name} ${words.join(' ')}`);
  const work = async () => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      const [name, words] = one;
      const { code, stdout, stderr, written } = await ask([...COMMANDS[name]!, ...words]);
      const lines = stderr.split('\n').filter((line) => line !== '' && !PROGRESS.test(line));
      const of = `${name} ${words.join(' ')}`;
      expect.soft({ of, code, stdout, lines: lines.length }).toEqual({ of, code: 2, stdout: '', lines: 1 });
      expect.soft(lines[0], of).toMatch(/^hopwise: /);
      expect.soft(written, of).toEqual([]);
      expect.soft(lines[0], of).not.toMatch(/\berror:|\bE[A-Z]{4,}:|undefined|\bat .*:\d+/);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
});
