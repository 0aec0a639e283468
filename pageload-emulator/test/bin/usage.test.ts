/** What people type: wrong inputs, units, names of networks, help, completions, JSON's form. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WriteStream } from 'node:tty';
import { fileURLToPath } from 'node:url';
import { predict } from '@hopwise/pageload-emulator';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ListFlags } from '../../bin/options.ts';
import { fitWidth, paint, roundFigure } from '../../bin/output.ts';
import { showPrediction } from '../../bin/show.ts';
import { generatedPage, NETWORKS } from '../support/generated-pages.ts';
import { chromiumHar } from '../support/hars.ts';
import { hopwise } from '../support/hopwise.ts';
import { uniform } from '../support/pages.ts';
import { recordLoad } from '../support/synthetic-loads.ts';

const SAMPLE = fileURLToPath(new URL('../../../e2e/examples/playwright/pages/app.json.gz', import.meta.url));
let dir = '';
const file = (name: string) => join(dir, name);

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'hopwise-usage-'));
  writeFileSync(file('page.har'), JSON.stringify(chromiumHar()));
  writeFileSync(file('text.har'), 'hello');
  writeFileSync(file('empty.har'), '');
  writeFileSync(file('budget.json'), '{"loadTimeMs": 4000}');
  writeFileSync(file('misspelt.json'), '{"loadTime": 4000}');
});
afterAll(() => rmSync(dir, { recursive: true }));

/** Names of files become paths in the test's folder. */
const paths = (words: readonly string[]) =>
  words.map((word) => (/\.(har|json)$/.test(word) ? file(word) : word));

const NETWORK_FLAGS = [
  [['--rtt', '60%'], '--rtt: expected milliseconds from 0 to 60000, such as 60, 60ms or 0.06s, got "60%"'],
  [['--down', '0'], '--down: expected Mbit/s from 0.01 to 10000, such as 3, 3mbit or 3000kbit, got "0"'],
  [['--loss', '60'], '--loss: expected a fraction from 0 to 0.5, such as 0.01 or 1%, got "60"'],
  [
    ['--udp', 'lossy'],
    '--udp: expected open, blocked, or Mbit/s from 0.01 to 10000, such as 3, 3mbit or 3000kbit, got "lossy"',
  ],
  [['--network', 'isdn'], /--network: expected one of fast, cable, .*, got "isdn"/],
] as const;

/** What is wrong with the files of any command. */
const wrongFiles = (command: string, ...flags: string[]) =>
  [
    [[command, 'none.har', ...flags], /none\.har: expected a readable file, but there is none$/],
    [[command, '/', ...flags], /\/: expected a readable file, but it is a folder$/],
    [
      [command, 'https://example.org/', ...flags],
      /expected a file, got an address: save the page in DevTools/,
    ],
    [[command, 'text.har', ...flags], /text\.har: top level: expected JSON, got other text at "hello"$/],
    [[command, 'empty.har', ...flags], /empty\.har: top level: expected JSON, got an empty text$/],
    [[command, ...flags], /missing required argument '?files?'?/],
    [[command, 'page.har', '--jsno', ...flags], /unknown option --jsno \(Did you mean --json\?\)/],
  ] as const;

const WRONG: readonly (readonly [readonly string[], string | RegExp])[] = [
  [['forecast'], "unknown command 'forecast'"],
  [['help', 'forecast'], "unknown command 'forecast'"],
  [['predict', ''], '"": expected a readable file, but there is none'],
  [['network', 'https://example.org/'], 'network is a command of the helper: hopwise-host network'],
  [['probe', 'https://example.org/'], 'probe is a command of the helper: hopwise-host probe'],
  ...(['predict', 'explain', 'compare'] as const).flatMap((command) => [
    ...wrongFiles(command),
    ...NETWORK_FLAGS.map(([flags, line]) => [[command, 'page.har', ...flags], line] as const),
    [[command, 'page.har', '--model', 'x'], '--model: expected one of hopwise, econ, got "x"'] as const,
    [
      [command, 'page.har', '--verification', 'page.har'],
      /page\.har: top level: expected a verification/,
    ] as const,
  ]),
  [['predict', 'page.har', 'text.har'], /compare takes several files/],
  [['predict', 'page.har', '--waterfall'], '--waterfall needs --json'],
  [['predict', 'page.har', '--top', '0'], '--top: expected a whole number from 1 to 100000, got "0"'],
  [['predict', 'page.har', '--what-if', 'start=20'], /--what-if: expected iw=PACKETS .*, got "start=20"/],
  [['predict', 'page.har', '--page', '9'], /page: expected one of the file's \(1 /],
  [['predict', SAMPLE, '--page', '0'], "page: expected one of the file's (1 https://www.app.test/), got 0"],
  [['explain', SAMPLE, '--page', 'https://other.test/'], /page: expected .*, got "https:\/\/other\.test\/"$/],
  ...wrongFiles('graph'),
  [['graph', 'page.har', '--page', '0'], /page\.har: page: expected one of the file's \(1 .*got 0$/],
  [
    ['graph', 'page.har', 'text.har'],
    /graph: expected at most 1 argument, got 2: .*page\.har, .*text\.har \(/,
  ],
  [['graph', 'page.har', '--rtt', '5'], 'unknown option --rtt'],
  ...wrongFiles('check', '--network', 'lte', '--budget', 'budget.json'),
  ...['--github', '--junit=a.xml', '--markdown=a.md'].map(
    (report) =>
      [
        ['check', 'page.har', '--network', 'lte', report],
        'expected --budget, --baseline, or both: a report is of what was judged',
      ] as const,
  ),
  [['check', 'page.har', '--budget', 'budget.json'], 'expected --network, --networks, or both'],
  [
    ['check', 'page.har', '--network', 'isdn', '--budget', 'budget.json'],
    /--network: expected some of fast, .*, got "isdn"/,
  ],
  [
    ['check', 'page.har', '--network', 'lte', '--budget', 'none.json'],
    /none\.json: expected a readable file, but there is none/,
  ],
  [
    ['check', 'page.har', '--network', 'lte', '--budget', 'misspelt.json'],
    /misspelt\.json: loadTime: expected no entry of this name/,
  ],
  ...wrongFiles('advise'),
  [['advise', 'page.har', '--servers', 'iis'], /--servers: expected some of nginx,.*, got "iis"/],
  [['advise', 'page.har', '--servers', 'nginx,', 'dns'], /with commas alone between them, got "nginx,"/],
  [
    ['advise', 'page.har', '--own', 'https://a'],
    /--own: expected a host such as cdn\.example\.net, got "https:\/\/a"/,
  ],
  [['advise', 'page.har', '--networks', 'page.har'], /page\.har: log\.rttMs: expected milliseconds/],
  [['completions', 'csh'], 'shell: expected one of bash, zsh, fish, got "csh"'],
  [['completions'], "missing required argument 'shell'"],
  [['doctor', 'page.har'], /doctor: expected no arguments, got .*page\.har \(/],
];

describe('what cannot be used', () => {
  it.each(WRONG)('%j is answered in one line', async (words, line) => {
    const { status, stdout, stderr } = await hopwise(paths(words));
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    const lines = stderr.trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^hopwise: /);
    expect(lines[0]).not.toMatch(/\berror:|ENOENT|EISDIR|undefined/);
    if (typeof line === 'string') expect(lines[0]).toContain(line);
    else expect(lines[0]).toMatch(line);
  });
});

describe('the network', () => {
  const networkOf = async (...flags: string[]) =>
    JSON.parse((await hopwise(['predict', file('page.har'), '--json', ...flags])).stdout).network;

  it('is given in units', async () => {
    const flags = ['--rtt', '0.06s', '--down', '20mbit', '--up', '750kbit', '--loss', '1%', '--udp', '3mbit'];
    expect(await networkOf(...flags)).toMatchObject({
      rttMs: 60,
      downMbps: 20,
      upMbps: 0.75,
      loss: 0.01,
      udp: 3,
    });
  });

  it('is a usual one by its name, whose single figures flags replace', async () => {
    const lte = { rttMs: 70, downMbps: 12, upMbps: 12, loss: 0.001, udp: 'open', queueBytes: 300_000 };
    expect(await networkOf('--network', 'lte')).toMatchObject({
      ...lte,
      source: { rttMs: 'given', udp: 'given' },
    });
    expect(await networkOf('--network', 'lte', '--loss', '2%', '--udp', 'blocked')).toMatchObject({
      ...lte,
      loss: 0.02,
      udp: 'blocked',
    });
    const unknown = await networkOf('--network', 'udp-blocked', '--udp', 'unknown');
    expect(unknown.source.udp).not.toBe('given');
  });
});

describe('the version', () => {
  it('is that of the package', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(await hopwise(['--version'])).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
  });
});

describe('figures in JSON', () => {
  it.each([
    [1, 1],
    [1234567, 1234567],
    [2466.123456789, 2466.1],
    [44.25678, 44.26],
    [0.0021345678, 0.002135],
    [-0.123456, -0.1235],
    [null, null],
    ['1.23456789', '1.23456789'],
  ])('%j are %j', (value, rounded) => {
    expect(roundFigure('', value)).toBe(rounded);
  });

  it('have no more digits anywhere', async () => {
    const { stdout } = await hopwise(['predict', file('page.har'), '--json', '--waterfall']);
    expect(stdout.match(/[1-9]\d*\.\d{4,}|\.0*[1-9]\d{4,}/g)).toBeNull();
    expect(JSON.parse(stdout).protocols.h2).toMatchObject({
      firstContentfulPaintMs: null,
      largestContentfulPaintMs: null,
    });
  });
});

it('a page of 567 requests to 60 origins is answered in what fits a window, and the rest on demand', () => {
  const { graph, servers } = generatedPage(7, 60, 567);
  const recording = recordLoad(graph, NETWORKS.cable!, servers, uniform(graph, 'h2'));
  const prediction = predict(recording, { seeds: 4 });
  const linesWith = (flags: ListFlags) => showPrediction(prediction, 0, flags).split('\n');
  const countOrigins = (flags: ListFlags) =>
    linesWith(flags).filter((line) => /^https:\/\/origin\d+\.test /.test(line)).length;
  const lines = linesWith({});
  expect(lines.length).toBeLessThan(50);
  expect(lines.at(-1)).toMatch(/^and \d+ other origins.* \(--all shows all\)$/);
  expect(countOrigins({})).toBeLessThanOrEqual(8);
  expect(countOrigins({ top: 20 })).toBe(20);
  expect(countOrigins({ all: true })).toBe(60);
});

describe('colours', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  it.each([
    ['a terminal', true, undefined, '\u001B[1mtext\u001B[22m'],
    ['a terminal, with NO_COLOR', true, '1', 'text'],
    ['a file', false, undefined, 'text'],
  ])('on %s', (_, isTTY, noColor, shown) => {
    vi.stubEnv('TERM', 'xterm-256color');
    vi.stubEnv('NO_COLOR', noColor);
    for (const name of ['FORCE_COLOR', 'NODE_DISABLE_COLORS', 'CI']) vi.stubEnv(name, undefined);
    const { getColorDepth, hasColors } = WriteStream.prototype;
    vi.spyOn(process, 'stdout', 'get').mockReturnValue({
      isTTY,
      getColorDepth,
      hasColors,
    } as typeof process.stdout);
    expect(paint('bold', 'text')).toBe(shown);
  });
});

describe('lines wider than a terminal', () => {
  it('are broken between words', () => {
    expect(fitWidth('one two three four', 9)).toBe('one two\nthree\nfour');
  });

  it('go on below the last column of a table', () => {
    const row = 'https://a.test    6  h3  HTTP/3 gains 35 ms over HTTP/2, too little';
    expect(fitWidth(row, 52)).toBe(
      [
        'https://a.test    6  h3  HTTP/3 gains 35 ms over',
        '                         HTTP/2, too little',
      ].join('\n'),
    );
  });

  it('put the last columns on a line of their own where nothing else fits', () => {
    const row = 'keep off h3: 6 origins   2583 ms   +4.8%   51%  the helper';
    expect(fitWidth(row, 42)).toBe('keep off h3: 6 origins   2583 ms   +4.8%\n    51%  the helper');
  });

  it('stay as they are where they fit', () => {
    expect(fitWidth('a  b\n\nc', 4)).toBe('a  b\n\nc');
  });
});

describe('hopwise doctor', () => {
  /** What the helper answers; a program in its place. */
  const withHelper = async (answer: object | null, ...flags: string[]) => {
    const bin = file('bin');
    mkdirSync(bin, { recursive: true });
    // A helper that thinks it is called as this program would name the wrong command in its fixes.
    const only = '[ -z "$HOPWISE_CALLED_AS" ] || exit 3; ';
    const line = answer === null ? 'echo broken >&2; exit 1' : `printf '%s' '${JSON.stringify(answer)}'`;
    writeFileSync(join(bin, 'hopwise-host'), `#!/bin/sh\n${only}${line}\n`, { mode: 0o755 });
    vi.stubEnv('PATH', `${bin}:${process.env.PATH}`);
    vi.stubEnv('HOPWISE_CALLED_AS', 'npm run hopwise --');
    try {
      return await hopwise(['doctor', '--offline', ...flags]);
    } finally {
      vi.unstubAllEnvs();
    }
  };
  const check = (name: string, ok: boolean, fix = '') => ({ name, ok, detail: 'as found', fix });

  it('says of both sides that they work', async () => {
    const { status, stdout } = await withHelper({ ok: true, checks: [check('libcurl', true)] });
    expect(stdout).toMatch(
      /^hopwise \d.*\n {2}ok {3}Node: .*\n {2}ok {3}prediction: .*\nhelper\n {2}ok {3}libcurl: as found\n$/,
    );
    expect(status).toBe(0);
  });

  it('says how to mend what does not, and ends with 1', async () => {
    const checks = [check('libcurl', false, 'install it'), check('CA', true, 'renew it')];
    const { status, stdout } = await withHelper({ ok: false, checks });
    expect(stdout).toContain('  FAIL libcurl: as found\n       fix: install it\n  WARN CA: as found\n');
    expect(status).toBe(1);
    const { status: again, stdout: json } = await withHelper({ ok: false, checks }, '--json');
    expect({ again, answer: JSON.parse(json) }).toEqual({
      again: 1,
      answer: { ok: false, checks: expect.arrayContaining(checks) },
    });
  });

  it('says that the helper does not answer', async () => {
    const { status, stdout } = await withHelper(null);
    expect(stdout).toMatch(/FAIL .*hopwise-host: broken\n {7}fix: install the helper again/);
    expect(status).toBe(1);
  });
});

describe('completions', () => {
  const scriptFor = async (shell: string) => (await hopwise(['completions', shell])).stdout;
  const completed = async (...words: string[]) => {
    const line = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _hopwise; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', `${await scriptFor('bash')}\n${line}`], {
      encoding: 'utf8',
      cwd: dir,
    });
    expect(stderr).toBe('');
    return stdout.trim().split('\n');
  };

  it('of bash know commands, flags, values and files', async () => {
    expect(await completed('hopwise', 'ex')).toEqual(['explain']);
    expect(await completed('hopwise', 'predict', '--los')).toEqual(['--loss', '--loss-burst']);
    expect(await completed('hopwise', 'predict', '--network', 'lte')).toEqual(['lte', 'lte-poor']);
    expect(await completed('hopwise', 'predict', 'pag')).toEqual(['page.har']);
    expect(await completed('hopwise', 'completions', 'z')).toContain('zsh');
  });

  it.each(['zsh', 'fish'])('of %s name every command and flag', async (shell) => {
    const script = await scriptFor(shell);
    for (const name of ['predict', 'check', 'doctor', 'completions']) expect(script).toContain(name);
    expect(script).toMatch(/(--| -l )baseline/);
    expect(script).not.toMatch(/undefined|\[object/);
  });
});
