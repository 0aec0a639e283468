/** What people mistype for `npm run research`: one line that says where and what was expected, before anything is measured. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cleanup } from '@hopwise/lab/command/cleanup';
import { UserError } from '@hopwise/lab/command/errors';
import { CommanderError } from 'commander';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { research } from '../src/command.ts';

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'hopwise-research-'));
  mkdirSync(join(dir, 'folder.d'));
  writeFileSync(join(dir, 'text.csv'), 'hello\n');
  writeFileSync(join(dir, 'odd.json'), '{"a": 1}');
  // Even root cannot read it.
  symlinkSync('circle.csv', join(dir, 'circle.csv'));
});
afterAll(() => rmSync(dir, { recursive: true }));

/** Runs the command in this process. Names of files become paths in the test's folder. */
async function ask(words: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const capture = (stream: NodeJS.WriteStream) => vi.spyOn(stream, 'write').mockReturnValue(true);
  const streams = [capture(process.stdout), capture(process.stderr)];
  let printed = { stdout: '', stderr: '' };
  const context = {
    cleanup: new Cleanup(),
    signal: new AbortController().signal,
    say: () => {},
    useScratch: async () => {},
  };
  let code = 0;
  try {
    await research(
      words.map((word) => (/\.(csv|json|d|md)$/.test(word) ? join(dir, word) : word)),
      context,
    );
  } catch (error) {
    if (!(error instanceof CommanderError || error instanceof UserError)) throw error;
    code = error instanceof UserError || error.exitCode === 0 ? error.exitCode : 2;
    // The program prints it.
    if (error instanceof UserError) process.stderr.write(`hopwise: ${error.message}\n`);
  } finally {
    const [stdout, stderr] = streams.map(({ mock }) => mock.calls.map(([text]) => text).join(''));
    printed = { stdout: stdout!, stderr: stderr! };
    for (const stream of streams) stream.mockRestore();
  }
  return { code, ...printed };
}

const COMMANDS = ['papers', 'econ', 'flow', 'video', 'initial-window', 'pcwnd', 'first-transfers'];
/** Options without which a command says nothing of the others. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  papers: ['econ', '--quick'],
  econ: ['1000'],
  flow: ['--bytes', '1000', '--loss', '0'],
  video: ['--ladder', 'odd.json', '--loss', '0'],
  pcwnd: ['--network', 'lte', '--out', 'new.d'],
};
const withNeeded = (command: string, ...words: string[]) => [command, ...(NEEDED[command] ?? []), ...words];

/** What is wrong with the p(cwnd) of one flow, and with a ladder of bitrates. */
const wrongFiles = (...words: string[]) =>
  [
    [[...words, 'none.csv'], /none\.csv: expected a readable file, but there is none$/],
    [[...words, 'folder.d'], /folder\.d: expected a readable file, but it is a folder$/],
    [[...words, 'circle.csv'], /circle\.csv: expected a readable file, but its links lead in a circle$/],
    [[...words, 'text.csv'], /text\.csv: line 1: expected .*, got "hello"$/],
    [[...words, 'odd.json'], /odd\.json: \w+: expected /],
  ] as const;

const WRONG: readonly (readonly [readonly string[], string | RegExp])[] = [
  [['fly'], "unknown command 'fly' (Did you mean flow?) (see npm run research -- --help)"],
  [['help', 'fly'], "unknown command 'fly' (see npm run research -- --help)"],
  [['--nope'], 'unknown option --nope'],
  ...COMMANDS.flatMap((command) => [
    [
      withNeeded(command, '--nope'),
      `unknown option --nope (see npm run research -- ${command} --help)`,
    ] as const,
    [withNeeded(command, 'extra'), /: expected (no arguments|at most 1 argument), got .*extra/] as const,
  ]),
  [['papers', 'nope'], 'paper: expected one of econ, wisetrans, wise, vtl, blitz, got "nope"'],
  [['papers', '--data'], 'option --data argument missing'],
  [['papers', '--quick', '--data', 'none.d'], /--data .*none\.d: expected a folder$/],
  [['papers', '--quick', '--data', 'text.csv'], /--data .*text\.csv: expected a folder$/],
  [['papers', '--quick', '--only', 'nope'], '--only nope: expected ids of claims'],
  [['papers', '--quick', '--seed', '-1'], '--seed: expected a whole number from 0 to 10000, got "-1"'],
  [['papers', '--quick', '--protocols', 'h1,h9'], '--protocols: expected some of h1, h2, h3, got "h9" ('],
  [['papers', '--quick', '--protocols', 'h3'], '--protocols: expected h1 and h2 among them'],
  [
    ['papers', '--quick', '--limit-minutes', '5m'],
    '--limit-minutes: expected minutes from 0.1 to 100000, got "5m"',
  ],
  [
    ['papers', '--quick', '--write', 'folder.d'],
    /--write .*: expected a file that can be written, but it is a folder$/,
  ],
  [
    ['papers', '--quick', '--write', '/none/such.md'],
    /--write .*: expected a file that can be written, but its folder is missing$/,
  ],
  [['econ', '10'], 'samples: expected a whole number from 1000 to 10000000, got "10"'],
  [['flow'], 'required option --bytes not specified'],
  [['flow', '--bytes'], 'option --bytes argument missing'],
  [
    ['flow', '--bytes', 'much', '--loss', '0'],
    /--bytes: expected bytes from 1 to \d+, such as .*, got "much"/,
  ],
  [['flow', '--bytes', '1000'], 'expected --pcwnd <file> or --loss <fraction>, and not both'],
  [
    withNeeded('flow', '--rtt', '60%'),
    '--rtt: expected milliseconds from 0 to 60000, such as 60, 60ms or 0.06s',
  ],
  [withNeeded('flow', '--rtt', '0'), '--rtt: expected more than 0 milliseconds'],
  [
    withNeeded('flow', '--connections', '0'),
    '--connections: expected a whole number from 1 to 1000, got "0"',
  ],
  [
    withNeeded('flow', '--congestion-control', 'bbr'),
    '--congestion-control: expected one of cubic, reno, got "bbr"',
  ],
  ...wrongFiles('flow', '--bytes', '1000', '--pcwnd'),
  [['video'], 'required option --ladder not specified'],
  ...wrongFiles('video', '--loss', '0', '--ladder'),
  [withNeeded('video', '--window', '0'), '--window: expected a whole number from 1 to 1000000, got "0"'],
  [['initial-window', '--figure', '5'], '--figure: expected a whole number from 7 to 9, got "5"'],
  [
    ['initial-window', '--requests', 'many'],
    '--requests: expected a whole number from 5 to 10000, got "many"',
  ],
  [['pcwnd', '--network', 'lte'], 'required option --out not specified'],
  [['pcwnd', '--network', 'isdn', '--out', 'new.d'], /network "isdn": expected one of fast, /],
  [['pcwnd', '--network', 'lte', '--out', ''], '--out : expected a folder that can be made'],
  [
    ['pcwnd', '--network', 'lte', '--out', 'text.csv'],
    /--out .*: expected a folder that can be made, but there is a file of that name$/,
  ],
  [withNeeded('pcwnd', '--cc', 'vegas'), '--cc: expected some of cubic, reno, bbr, got "vegas" ('],
  [withNeeded('pcwnd', '--seconds', '5m'), '--seconds: expected seconds from 1 to 86400, got "5m"'],
  [['first-transfers', '--prefixes', '0'], '--prefixes: expected a whole number from 1 to 50, got "0"'],
];

describe('what cannot be used', () => {
  it.each(WRONG)('%j is answered in one line', async (words, line) => {
    const before = readdirSync(dir);
    const { code, stdout, stderr } = await ask(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    const lines = stderr.trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^hopwise: /);
    expect(lines[0]).not.toMatch(/\berror:|\bE[A-Z]{4,}\b|undefined/);
    if (typeof line === 'string') expect(lines[0]).toContain(line);
    else expect(lines[0]).toMatch(line);
    expect(readdirSync(dir)).toEqual(before);
  });
});

it.each(['', ...COMMANDS])('the help of "%s" describes it and does nothing else', async (command) => {
  const before = readdirSync(dir);
  const { code, stdout, stderr } = await ask([...(command === '' ? [] : [command]), '--help']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^Usage: npm run research -- /);
  expect(readdirSync(dir)).toEqual(before);
});
