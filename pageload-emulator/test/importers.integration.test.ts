/**
 * Any input gives a result or one clear line within three seconds and 256 MB, measured in processes of their own that read files
 * as the command does. Processor time is measured, as other processes do not change it; slower processors, by the reference
 * below, have proportionally more.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countRuns, drawShare } from '../../scripts/suites/draw-share.ts';
import { START } from './support/hars.ts';
import { mutatedText, VALID } from './support/mutations.ts';
import { mostSeconds } from './support/processor-time.ts';

/** Memory of the whole process, a tenth of which the list of public suffixes takes. */
const MAX_MB = 288;
const MB = 1e6;

interface Outcome {
  file: string;
  requests: number | null;
  refusal: string | null;
  cpuSeconds: number;
  residentMb: number;
}

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

let dir = '';

beforeAll(() => {
  const tsc = path('../../node_modules/.bin/tsc');
  const built = spawnSync(process.execPath, [tsc, '-b', path('../bin')], { encoding: 'utf8' });
  expect(built.stdout + built.stderr).toBe('');
  dir = mkdtempSync(join(tmpdir(), 'hopwise-importers-'));
});

afterAll(() => rmSync(dir, { recursive: true, force: true }));

function read(files: readonly string[]): Outcome[] {
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    [path('bin/read-inputs.mjs'), ...files],
    {
      encoding: 'utf8',
      timeout: 100_000,
    },
  );
  expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: '' });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Outcome);
}

/** Shared processors are occasionally slower: one of three attempts must be within the limit. */
function readSoon(file: string): Outcome {
  for (let left = 2; ; left--) {
    const [outcome] = read([file]);
    if (left === 0 || outcome!.cpuSeconds < mostSeconds(outcome!.cpuSeconds)) return outcome!;
  }
}

function expectBounded({ file, requests, refusal, cpuSeconds, residentMb }: Outcome): void {
  if (requests === null) expect(refusal, file).toMatch(/^([^\n]+: )?expected [^\n]+, (got|but) [^\n]+$/);
  expect(cpuSeconds, file).toBeLessThan(mostSeconds(cpuSeconds));
  expect(residentMb, file).toBeLessThan(MAX_MB);
}

const times = (count: number, make: (index: number) => string, separator = ',') =>
  Array.from({ length: count }, (_, index) => make(index)).join(separator);
const harOf = (entries: string) => `{"log":{"entries":[${entries}]}}`;

function entry(index: number, extra: object = {}): string {
  return JSON.stringify({
    startedDateTime: new Date(Date.parse(START) + (index % 1_000)).toISOString(),
    time: 10,
    request: {
      url: `https://o${index % 400}.test/${index}.js`,
      headers: [{ name: 'a', value: 'b'.repeat(100) }],
    },
    response: { status: 200, bodySize: 1_000, content: { mimeType: 'text/javascript' } },
    timings: { send: 1, wait: 5, receive: 4 },
    ...extra,
  });
}

const READ = [
  ':path',
  'accept',
  'referer',
  'sec-fetch-dest',
  'alt-svc',
  'content-encoding',
  'content-length',
];

function withHeaders(index: number): object {
  const headers = Array.from({ length: 45 }, (_, at) => ({
    name: READ[at - 9] ?? `x-${at}`,
    value: 'b'.repeat(40),
  }));
  const { request, response } = JSON.parse(entry(index));
  const cookies = headers.slice(0, 10);
  return {
    request: { ...request, headers: headers.slice(0, 20), cookies },
    response: { ...response, headers: headers.slice(20), cookies },
  };
}

const stack = (index: number, frames = 5) => ({
  callFrames: Array.from({ length: frames }, (_, frame) => {
    const initiator = (index * 7 + frame) % 10_000;
    return { functionName: 'f', url: `https://o${initiator % 400}.test/${initiator}.js`, lineNumber: frame };
  }),
});

/** Functions of three scripts, called in turns through promises. */
const asyncStack = (index: number, parents: number): object => ({
  ...stack(index + (parents % 2), 2),
  ...(parents > 0 && { parent: asyncStack(index, parents - 1) }),
});

const UNREADABLE = /^[^\n]+: expected (JSON|gzip data), got /;
const TOO_LARGE = /^top level: expected at most .* got more$/;
const TOO_MANY = /: expected at most \d+ (entries|requests), got /;

type Case = [name: string, make: () => string | Buffer, expected: number | RegExp];

const SMALL: Case[] = [
  ['nothing', () => '', UNREADABLE],
  ['zeros', () => Buffer.alloc(100_000), UNREADABLE],
  ['bytes that are no UTF-8', () => Buffer.from(VALID.plain!.replace('x.js', '\u00ff'), 'latin1'), 2],
  ['half a gzip', () => gzipSync(VALID.chromium!).subarray(0, 300), UNREADABLE],
  ['a gzip with a wrong byte', () => gzipSync(VALID.chromium!).fill(7, 200, 210), UNREADABLE],
  ['a gzip in a gzip', () => gzipSync(gzipSync(VALID.chromium!)), UNREADABLE],
  ['one number of a million digits', () => `[${'9'.repeat(1e6)}]`, /^\[0\]: expected an object, got /],
  ['a number beyond all numbers', () => harOf(entry(0).replace('"time":10', '"time":1e999')), 1],
];

/** Near the limits, or beyond them. */
const LARGE: Case[] = [
  ['brackets that only open', () => '['.repeat(30 * MB), TOO_LARGE],
  ['a million objects', () => `[${times(1e6, () => '{}')}]`, TOO_LARGE],
  ['as many objects as may be', () => `[${times(249_000, () => '{}')}]`, TOO_MANY],
  ['as many strings as may be', () => `[${times(999_000, (i) => `"s${i}"`)}]`, TOO_MANY],
  [
    'as many keys as may be',
    () => `{"log":{${times(999_000, (i) => `"k${i}":${i}`)}}}`,
    /^log\.entries: expected /,
  ],
  ['objects that are all of another shape', () => harOf(times(240_000, (i) => `{"k${i}":1}`)), TOO_MANY],
  ['arrays as deep as may be', () => '['.repeat(249_000) + ']'.repeat(249_000), /^\[0\]: expected an object/],
  [
    'a stack as deep as may be',
    () =>
      harOf(
        `${entry(0).slice(0, -1)},"_initiator":{"stack":${'{"parent":'.repeat(100_000)}1${'}'.repeat(100_002)}`,
      ),
    1,
  ],
  ['a body that is no text', () => harOf(entry(0, { text: '漢"\\'.repeat(5 * MB) })), 1],
  [
    'as much text in two bytes as may be',
    () => harOf(times(190, (i) => entry(i, { t: '漢'.repeat(20_000) }))),
    190,
  ],
  ['more text than may be', () => harOf(times(500, (i) => entry(i, { t: 'a'.repeat(60_000) }))), TOO_LARGE],
  [
    '10,000 requests with stacks',
    () => harOf(times(10_000, (i) => entry(i, { _initiator: { type: 'script', stack: stack(i) } }))),
    10_000,
  ],
  [
    '5,000 requests with stacks of 40 scripts',
    () => harOf(times(5_000, (i) => entry(i, { _initiator: { type: 'script', stack: stack(i, 40) } }))),
    5_000,
  ],
  [
    '5,000 requests with 45 headers and stacks of 40 functions through promises',
    () =>
      harOf(
        times(5_000, (i) =>
          entry(i, { ...withHeaders(i), _initiator: { type: 'script', stack: asyncStack(i, 19) } }),
        ),
      ),
    5_000,
  ],
  [
    'a stack of millions of functions in as many scripts',
    () => `{"log":{"entries":[],"stack":{"callFrames":[${times(4e6, (i) => `{"url":"${i}.js"}`)}]}}}`,
    /^log\.entries: expected /,
  ],
  [
    'a stack of long URLs that differ in their first letters alone',
    () =>
      `{"log":{"entries":[],"stack":{"callFrames":[${times(2e5, (i) => `{"url":"${(i % 31).toString(31)}${'x'.repeat(1_000)}"}`)}]}}}`,
    /^log\.entries: expected /,
  ],
  [
    'more scripts in stacks than may be',
    () => harOf(times(40_000, (i) => entry(i, { _initiator: { stack: stack(i, 40) } }))),
    TOO_LARGE,
  ],
  [
    '10,000 requests of as many origins',
    () => harOf(times(10_000, (i) => entry(i).replace(/o\d+/, `o${i}`))),
    10_000,
  ],
  [
    '10,000 requests that block one another',
    () =>
      harOf(
        times(10_000, (i) =>
          entry(i, {
            _initiator: 'https://o0.test/0.js',
            _resourceType: i % 2 ? 'script' : 'stylesheet',
            _renderBlocking: 'blocking',
          }),
        ),
      ),
    10_000,
  ],
  [
    '10,000 requests that asked in circles',
    () =>
      harOf(
        times(10_000, (i) =>
          entry(i, { _initiator: `https://o${(i + 1) % 400}.test/${(i + 1) % 10_000}.js` }),
        ),
      ),
    10_000,
  ],
  [
    '5,000 requests with 45 headers, of which 8 are read, and cookies',
    () => harOf(times(5_000, (i) => entry(i, withHeaders(i)))),
    5_000,
  ],
  [
    'more headers that are read than may be',
    () => harOf(entry(0, { response: { headers: new Array(260_000).fill({ name: 'alt-svc' }) } })),
    TOO_LARGE,
  ],
  [
    'millions of headers and cookies that are not read',
    () =>
      `{"headers":[${times(3e6, () => '{"name":"x-a","value":[{}]}')}],"cookies":[${times(3e6, () => '[{}]')}]}`,
    /^top level: expected a HAR/,
  ],
  [
    'headers in headers',
    () => '{"headers":[{"value":'.repeat(80_000),
    /expected JSON, got a text that ends too early$/,
  ],
  ['20,000 requests', () => harOf(times(20_000, (i) => entry(i))), TOO_MANY],
];

/** Bytes of a megabyte or less, which follow one another. */
type Bomb = [name: string, pieces: () => Iterable<Buffer>, expected: number | RegExp];

function* repeat(piece: Buffer, count: number): Generator<Buffer> {
  for (let i = 0; i < count; i++) yield piece;
}

const megabyteOf = (character: string) => gzipSync(Buffer.alloc(MB, character));

/** Gzip that consists of several members (RFC 1952 section 2.2), so that equal ones are compressed once. */
const BOMBS: Bomb[] = [
  ['a gigabyte of blanks', () => repeat(megabyteOf(' '), 1_000), TOO_LARGE],
  [
    'a gigabyte in one string',
    function* () {
      yield gzipSync('["');
      yield* repeat(megabyteOf('a'), 1_000);
    },
    TOO_LARGE,
  ],
  [
    'a page of 200 MB in bodies',
    function* () {
      const body = megabyteOf('a');
      yield gzipSync('{"log":{"entries":[');
      for (let i = 0; i < 200; i++) {
        yield gzipSync(`${i === 0 ? '' : ','}${entry(i).slice(0, -1)},"text":"`);
        yield body;
        yield gzipSync('"}');
      }
      yield gzipSync(']}}');
    },
    200,
  ],
];

function expectOutcome(outcome: Outcome, expected: number | RegExp): void {
  expectBounded(outcome);
  if (typeof expected === 'number') expect(outcome).toMatchObject({ requests: expected, refusal: null });
  else expect(outcome.refusal).toMatch(expected);
}

describe('a hostile file is read or refused', () => {
  it('if it is small', () => {
    const files = SMALL.map(([name, make]) => {
      const file = join(dir, name.replaceAll(' ', '-'));
      writeFileSync(file, make());
      return file;
    });
    const outcomes = read(files);
    for (const [index, [, , expected]] of SMALL.entries()) expectOutcome(outcomes[index]!, expected);
  });

  it.each(drawShare(LARGE, 3, ([name]) => name))('%s', (_, make, expected) => {
    const file = join(dir, 'hostile');
    writeFileSync(file, make());
    expectOutcome(readSoon(file), expected);
  });

  it.each(drawShare(BOMBS, 1, ([name]) => name))('gzip that holds %s', (_, pieces, expected) => {
    const file = join(dir, 'bomb.gz');
    writeFileSync(file, Buffer.concat([...pieces()]));
    expectOutcome(readSoon(file), expected);
  });

  it('what is no file', () => {
    const outcomes = read([dir, join(dir, 'none'), '/dev/zero']);
    expect(outcomes.map(({ refusal }) => refusal)).toEqual([
      'expected a readable file, but it is a folder',
      'expected a readable file, but there is none',
      expect.stringMatching(TOO_LARGE),
    ]);
    for (const outcome of outcomes) expectBounded(outcome);
  });
});

describe('changed files', () => {
  it('are read or refused, plain and gzipped, whole and cut', () => {
    const bytes = fc.oneof(
      mutatedText.map((text) => Buffer.from(text)),
      mutatedText.map((text) => gzipSync(text)),
      fc.tuple(mutatedText, fc.nat(10_000)).map(([text, cut]) => gzipSync(text).subarray(0, cut)),
      fc
        .tuple(
          fc.constantFrom(...Object.values(VALID)),
          fc.array(fc.tuple(fc.nat(5_000), fc.nat(255)), { minLength: 1, maxLength: 8 }),
        )
        .map(([text, changes]) => {
          const file = Buffer.from(text);
          for (const [at, byte] of changes) file[at % file.length] = byte;
          return file;
        }),
      fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
    );
    const files = fc.sample(bytes, { numRuns: countRuns(200, 400), seed: 20260105 }).map((content, index) => {
      const file = join(dir, `changed-${index}`);
      writeFileSync(file, content);
      return file;
    });
    const outcomes = read(files);
    expect(outcomes).toHaveLength(files.length);
    for (const outcome of outcomes) expectBounded(outcome);
    expect(outcomes.filter(({ requests }) => requests !== null).length).toBeGreaterThan(files.length / 10);
  });
});
