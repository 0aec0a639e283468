/** What people mistype for `hopwise-host`: one line that says where and what was expected, and nothing is changed. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { drawShare } from '../../../scripts/suites/draw-share.ts';
import { COMMAND, hopwiseHost } from '../support/command.ts';

/** Cases in `npm test`: each starts a process. */
const SHARE = 8;

let home = '';
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'hopwise-usage-'));
  mkdirSync(join(home, 'folder.d'));
  writeFileSync(join(home, 'text.har'), 'hello');
  writeFileSync(join(home, 'cut.har'), gzipSync('{"log":{"entries":[]}}').subarray(0, 24));
  writeFileSync(join(home, 'odd.json'), '{"a": 1}');
  // Even root cannot read it.
  symlinkSync('circle.har', join(home, 'circle.har'));
});
afterAll(() => rmSync(home, { recursive: true }));

/** Runs the command. Names of files become paths in the test's home folder. */
const ask = (words: readonly string[]) =>
  hopwiseHost(
    home,
    words.map((word) => (/\.(har|json|d|so)$/.test(word) ? join(home, word) : word)),
  );
/** All files but the log, which notes each start. */
const list = () =>
  (readdirSync(home, { recursive: true }) as string[]).filter((name) => !name.startsWith('state'));

const see = (subcommands: string) => `(see ${COMMAND} ${subcommands}--help)`;

/** What is wrong with a recording. */
const wrongFiles = (command: string) =>
  [
    [[command, '--har'], `option --har argument missing ${see(`${command} `)}`],
    [[command, '--har', 'none.har'], /none\.har: expected a readable file, but there is none$/],
    [[command, '--har', 'folder.d'], /folder\.d: expected a readable file, but it is a folder$/],
    [
      [command, '--har', 'circle.har'],
      /circle\.har: expected a readable file, but its links lead in a circle$/,
    ],
    [[command, '--har', 'text.har'], /text\.har: top level: expected JSON, got other text at "hello"$/],
    [[command, '--har', 'odd.json'], /odd\.json: top level: expected a HAR .*, got an object$/],
    [
      [command, 'https://example.org/', '--libcurl', 'none.so'],
      /none\.so: expected a readable file, but there is none$/,
    ],
    [
      [command, 'https://example.org/', '--libcurl', 'folder.d'],
      /folder\.d: expected a readable file, but it is a folder$/,
    ],
    [[command], 'expected either URLs or --har <file>'],
    [[command, 'example.org'], 'expected an https URL, got "example.org"'],
    [[command, 'page.har.gz'], 'expected an https URL, or --har before a file, got "page.har.gz"'],
    [[command, '--har', 'cut.har'], /cut\.har: top level: expected gzip data, got data that ends too early$/],
  ] as const;

const BROWSERS = '--browser: expected one of chromium, chrome, edge, brave, firefox, got "opera"';
const REGISTERING = ['install', 'uninstall', 'doctor', 'status'];

const WRONG: readonly (readonly [readonly string[], string | RegExp])[] = [
  [['fly'], `unknown command 'fly' ${see('')}`],
  [['help', 'fly'], `unknown command 'fly' ${see('')}`],
  [['ca', 'fly'], `unknown command 'fly' ${see('ca ')}`],
  [['--nope'], `unknown option --nope ${see('')}`],
  ...[...REGISTERING, 'setup', 'ca status', 'ca trust', 'ca remove', 'probe', 'network', 'resolver'].map(
    (command) => [[...command.split(' '), '--nope'], `unknown option --nope ${see(`${command} `)}`] as const,
  ),
  ...[
    ...REGISTERING,
    'setup',
    'ca status',
    'ca trust',
    'ca remove',
    'pin https://a.example',
    'resolver off',
  ].map(
    (command) =>
      [
        [...command.split(' '), 'extra'],
        /: expected (no arguments|at most 1 argument), got .*\bextra \(see /,
      ] as const,
  ),
  ...REGISTERING.flatMap((command) => [
    [[command, '--browser', 'opera'], BROWSERS] as const,
    [[command, '--user-data-dir'], 'option --user-data-dir argument missing'] as const,
    [
      [command, '--user-data-dir', 'text.har'],
      /text\.har: expected the path of a folder, but it is a file$/,
    ] as const,
    [
      [command, '--user-data-dir', '/dev/null/such'],
      '--user-data-dir /dev/null/such: expected the path of a folder, but its path leads through a file',
    ] as const,
  ]),
  ...['install', 'doctor', 'status'].flatMap((command) => [
    [[command, '--extension-id', 'nope'], '--extension-id: expected 32 letters a to p, got "nope"'] as const,
    [
      [command, '--firefox-extension-id', 'nope'],
      '--firefox-extension-id: expected name@domain, got "nope"',
    ] as const,
  ]),
  [['doctor', '--libcurl', 'none.so'], /--libcurl .*none\.so: expected a readable file, but there is none$/],
  [
    ['status', '--libcurl', 'folder.d'],
    /--libcurl .*folder\.d: expected a readable file, but it is a folder$/,
  ],
  [['setup', '--check', '--update'], 'option --check cannot be used with option --update'],
  [['ca', 'create'], "missing required argument 'origins'"],
  [
    ['ca', 'create', 'http://a.example'],
    'expected an origin such as https://example.org, got "http://a.example"',
  ],
  [['ca', 'create', 'https://192.0.2.1'], 'https://192.0.2.1: an address cannot be pinned to a protocol'],
  [['ca', 'trust', '--nss-db', 'folder.d'], /--nss-db .*folder\.d: expected a folder with cert9\.db$/],
  [['ca', 'untrust', '--firefox-profile'], 'option --firefox-profile argument missing'],
  [['pin'], `missing required argument 'origin' ${see('pin ')}`],
  [['pin', 'example.org'], 'expected an origin such as https://example.org, got "example.org"'],
  [
    ['pin', 'https://example.org', '--as', 'h9'],
    '--as: expected one of avoid-h3, h1, h2, h3, auto, got "h9"',
  ],
  [
    ['pin', 'https://example.org', '--minutes', '5m'],
    '--minutes: expected a whole number from 1 to 43200, got "5m"',
  ],
  [
    ['pin', 'https://example.org', '--minutes', '0'],
    '--minutes: expected a whole number from 1 to 43200, got "0"',
  ],
  [['unpin'], 'expected either an origin or --all'],
  [
    ['resolver', 'ftp://dns.example'],
    'expected a URL such as https://dns.example/dns-query, or off, got "ftp://dns.example"',
  ],
  ...wrongFiles('probe'),
  [['probe', 'https://example.org', '--protocols', 'h9'], '--protocols: expected some of h1,h2,h3, got "h9"'],
  [
    ['probe', 'https://example.org', '--rounds', '0'],
    '--rounds: expected a whole number from 1 to 20, got "0"',
  ],
  [
    ['probe', 'https://example.org', '--budget', '5 apples'],
    '--budget: expected bytes from 1 to 1000000000000, such as 500000, 500kB or 0.5MB, got "5 apples"',
  ],
  ...wrongFiles('network'),
  [
    ['network', 'https://example.org', '--every', '1h'],
    '--every: expected a whole number from 1 to 1440, got "1h"',
  ],
  [['network', 'https://example.org', '--every', '5'], '--every and --for belong together'],
];

it.each(drawShare(WRONG, SHARE, ([words]) => `usage ${words.join(' ')}`))(
  '%j is answered in one line',
  (words, line) => {
    const before = list();
    const { code, out, err } = ask(words);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^hopwise-host: [^\n]+\n$/);
    const [said = ''] = err.trim().split('\n');
    expect(said).not.toMatch(/\berror:|\bE[A-Z]{4,}\b|undefined/);
    if (typeof line === 'string') expect(said).toContain(line);
    else expect(said).toMatch(line);
    expect(list()).toEqual(before);
  },
);

const COMMANDS = [
  ...REGISTERING,
  'setup',
  'ca',
  'ca create',
  'ca trust',
  'pin',
  'unpin',
  'resolver',
  'probe',
  'network',
];

it.each(drawShare(COMMANDS, 4, (command) => `help of ${command}`))(
  'the help of %s describes it and does nothing else',
  (command) => {
    const before = list();
    const { code, out, err } = ask([...command.split(' '), '--help']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(new RegExp(`^Usage: hopwise-host ${command} `));
    expect(list()).toEqual(before);
  },
);
