import type { Recording } from '@hopwise/contract';
import { InputError, parseRecording, RecordingBytes } from '@hopwise/pageload-emulator';
import fc from 'fast-check';
import { strToU8, zipSync, zlibSync } from 'fflate';
import { describe, expect, it, vi } from 'vitest';
import { countRuns } from '../../../scripts/suites/draw-share.ts';
import { chromiumHar } from '../support/hars.ts';
import { mutatedText, VALID } from '../support/mutations.ts';

const HAR = JSON.stringify(chromiumHar());
const EXPECTED = parseRecording(HAR);

/** The text in a file, which comes in pieces. */
function textOf(file: Uint8Array, pieces: readonly number[] = []): string {
  const recording = new RecordingBytes();
  let from = 0;
  for (const length of pieces) {
    recording.add(file.subarray(from, from + length));
    from += length;
  }
  recording.add(file.subarray(from));
  return recording.end((kept) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(kept));
}

/** Null for a text that is refused. */
function recordingIn(text: string): Recording | null {
  try {
    return parseRecording(text);
  } catch {
    return null;
  }
}

/** The stacks of initiators in a JSON text, each as text. */
function stacksIn(text: string): string[] {
  const stacks: string[] = [];
  JSON.parse(text, (key, value: unknown) => {
    if (key === 'stack' || key === 'stackTrace') stacks.push(JSON.stringify(value));
    return value;
  });
  return stacks;
}

const complaint = (file: Uint8Array): string => {
  try {
    textOf(file);
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    return (error as Error).message;
  }
  throw new Error('it was taken');
};

const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');
const swapped = (text: string): Buffer => utf16(text).swap16();

it.each([
  ['package/dist{"x":[1,{"y":2', 'top level: expected JSON, got other text at "package/di"'],
  [
    '{"log":{"entries":[{"startedDateTime":1},{"time": tru, "request":3333333333}]}}',
    'log.entries[1].time: expected JSON, got other text at ',
  ],
])('names the place where text is no JSON: %s', (text, line) => {
  expect(() => parseRecording(text)).toThrow(line);
});

it('names the place where a file is no JSON by its text, as lines of what is left out are not counted', () => {
  const text = '{"log":{"entries":[{"request":{"cookies":[\n{"name":"a"}\n],\n"headers": [1 2]}}]}}';
  const line = 'log.entries[0].request.headers[0]: expected JSON, got other text at "2]}}]}}"';
  expect(() => parseRecording(textOf(strToU8(text)))).toThrow(line);
});

it("names the place that Firefox's words tell by line and column", () => {
  const message =
    "JSON.parse: expected ',' or '}' after property value in object at line 3 column 8 of the JSON data";
  const parse = vi.spyOn(JSON, 'parse').mockImplementation(() => {
    throw new SyntaxError(message);
  });
  const read = () => parseRecording('{"log":\n{"a":1,\n "b": 2 "c":3}}');
  expect(read).toThrow('log.b: expected JSON, got other text at "\\"c\\":3}}"');
  parse.mockRestore();
});

it('leaves out nothing that a recording is read for', () => {
  for (const text of Object.values(VALID)) {
    expect(parseRecording(textOf(strToU8(text)))).toEqual(parseRecording(text));
  }
  const stacks = new Set(Object.values(VALID).flatMap(stacksIn));
  // Longer strings than 65,536 are left out on purpose. Another mutation may stand within that of 70,000.
  const withoutLong = mutatedText.filter((text) => !text.includes('x'.repeat(34_000)));
  fc.assert(
    fc.property(withoutLong, (text) => {
      const whole = recordingIn(text);
      if (whole === null) return;
      // Of a stack that is none, every `url` is kept, wherever it stands.
      fc.pre(stacksIn(text).every((stack) => stacks.has(stack)));
      expect(recordingIn(textOf(Buffer.from(text)))).toEqual(whole);
    }),
    { numRuns: countRuns(150, 600) },
  );
});

describe('UTF-16', () => {
  it.each([
    ['with a mark', utf16(`\uFEFF${HAR}`)],
    ['without one', utf16(HAR)],
    ['the other way round', swapped(`\uFEFF${HAR}`)],
    ['the other way round, without a mark', swapped(HAR)],
  ])('is read: %s', (_, file) => {
    expect(parseRecording(textOf(file))).toEqual(EXPECTED);
  });

  it('is what UTF-8 would be, for all texts and divisions into pieces', () => {
    const text = fc.string({ unit: 'grapheme' }).map((each) => JSON.stringify(`${each}😀`));
    const pieces = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 9 });
    fc.assert(
      fc.property(text, pieces, (each, lengths) => {
        expect(textOf(utf16(`\uFEFF${each}`), lengths)).toBe(`\uFEFF${each}`);
      }),
    );
    expect(textOf(Buffer.from([0xff, 0xfe, 0x00, 0xd8, 0x22, 0x00]))).toBe('\uFEFF\uFFFD"');
  });
});

describe('zlib', () => {
  it('is what mitmproxy compresses a .zhar with', () => {
    for (const level of [1, 6, 9] as const) {
      expect(parseRecording(textOf(zlibSync(strToU8(HAR), { level }), [1, 1, 50]))).toEqual(EXPECTED);
    }
    const broken = zlibSync(strToU8(HAR));
    broken.fill(0xff, 30, 60);
    expect(complaint(broken)).toMatch(/^top level: expected zlib data, got /);
  });
});

describe('a zip file', () => {
  const har = strToU8(HAR);
  const body = strToU8('a'.repeat(100_000));

  it('has the HAR that Playwright puts beside the bodies', () => {
    const file = zipSync({ 'b1.html': body, 'har.har': har, 'b2.js': body });
    for (const pieces of [[], [1, 2, 3, 100], new Array<number>(200).fill(13)]) {
      expect(parseRecording(textOf(file, pieces))).toEqual(EXPECTED);
    }
    expect(parseRecording(textOf(zipSync({ 'x/page.HAR': [har, { level: 0 }] })))).toEqual(EXPECTED);
    const ofMac = zipSync({ '__MACOSX/._page.har': strToU8('Mac'), 'page.har': har });
    expect(parseRecording(textOf(ofMac))).toEqual(EXPECTED);
  });

  it('that has none, several or a part is named', () => {
    expect(complaint(zipSync({ 'a.html': body }))).toBe(
      'top level: expected a zip file with a HAR (.har), got "a.html": unpack it first',
    );
    expect(complaint(zipSync({}))).toBe('top level: expected a zip file with a HAR (.har), got an empty one');
    expect(complaint(zipSync({ 'a.har': har, 'b.har': har }))).toBe(
      'top level: expected a zip file with one HAR, got "a.har" and "b.har"',
    );
    const whole = zipSync({ 'a.har': har });
    expect(complaint(whole.subarray(0, 300))).toMatch(/^top level: expected a (whole )?zip file, got /);
    const broken = whole.slice();
    broken.fill(0xff, 60, 90);
    expect(complaint(broken)).toMatch(/^top level: expected a (whole )?zip file, got /);
  });

  it('of a trace is not read beyond what a recording may have', () => {
    const event = `{"name":"RunTask","ph":"X","args":{"text":"${'x'.repeat(1_000_000)}"}},`;
    const text = `{"traceEvents":[${event}`;
    const more = strToU8(event);
    const recording = new RecordingBytes();
    recording.add(strToU8(text));
    const read = () => {
      for (let count = 0; count < 300; count++) recording.add(more);
    };
    expect(read).toThrow('top level: expected at most 256 MiB, got more');
  });

  it('has bodies that are not kept, packed or not', () => {
    const recording = new RecordingBytes();
    // One buffer for all files: others would wait for the next collection, and count.
    const bytes = new Uint8Array(1_000_000);
    const view = new DataView(bytes.buffer);
    const before = process.memoryUsage().arrayBuffers;
    for (let count = 0; count < 400; count++) {
      const packed = count % 2 === 0 ? 8 : 0;
      view.setUint32(0, 0x04034b50, true);
      view.setUint16(8, packed, true);
      view.setUint32(18, bytes.length - 31, true);
      view.setUint32(22, bytes.length - 31, true);
      view.setUint16(26, 1, true);
      view.setUint8(30, 0x61);
      recording.add(bytes);
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20e6);
  });

  it('with a file packed by another method is refused before any of that is kept', () => {
    const method = (name: string, bzip2: number) => {
      const file = zipSync({ [name]: body });
      new DataView(file.buffer).setUint16(8, bzip2, true);
      return complaint(file.subarray(0, 200));
    };
    const expected = 'top level: expected a zip file packed by deflate, got method 12 for';
    expect([method('b1.html', 12), method('a.har', 12)]).toEqual([
      `${expected} "b1.html"`,
      `${expected} "a.har"`,
    ]);
  });

  it('that has files without end is refused', () => {
    const empty = zipSync({ a: [new Uint8Array(), { level: 0 }] }).subarray(0, 31);
    const files = new Uint8Array(20_002 * empty.length);
    for (let at = 0; at < files.length; at += empty.length) files.set(empty, at);
    expect(complaint(files)).toBe('top level: expected at most 20000 files in the zip file, got more');
  });

  it('is not unpacked beyond what a recording may have', () => {
    const bomb = zipSync({ 'a.har': new Uint8Array(30 * 1024 * 1024).fill(0x31) }, { level: 1 });
    expect(bomb.length).toBeLessThan(2e6);
    expect(complaint(bomb)).toBe('top level: expected at most 20 MiB of JSON without bodies, got more');
  });
});

describe('a file that is no recording', () => {
  it.each([
    ['an HTML page', '\n<!DOCTYPE html>\n<title>Not found</title>'],
    ['a file packed by bzip2', 'BZh91AY&SY\x01'],
    ['a file packed by xz', '\xfd7zXZ\0'],
    ['a file packed by Zstandard', '\x28\xb5\x2f\xfd'],
    ['a tar archive: unpack it first', `${'page.har'.padEnd(257, '\0')}ustar\x0000`],
    ['a 7-Zip archive', '7z\xbc\xaf'],
    ['a capture of packets', '\xd4\xc3\xb2\xa1\x02'],
    ['a capture of packets', '\n\r\r\n'],
    ["mitmproxy's flows, which it saves as HAR too", '9423:7:version;2:21#'],
    ['a Charles session: export it as HAR', '\xac\xed\0\x05'],
    ['an XML file: export its requests as HAR', '\xef\xbb\xbf<?xml version="1.0"?><log/>'],
  ])('is called %s', (name, beginning) => {
    const file = Uint8Array.from(beginning, (character) => character.charCodeAt(0));
    expect(() => textOf(file)).toThrow(`top level: expected a HAR, got ${name}`);
  });
});

describe('a call of JavaScript (JSONP)', () => {
  it.each([`onInputData(${HAR});`, `\uFEFF  har.load ( ${HAR} ) ;\n`, `$(${HAR})`])('is read', (text) => {
    expect(parseRecording(text)).toEqual(EXPECTED);
  });

  it('that is no call is named', () => {
    for (const text of [`onInputData(${HAR}`, `onInputData(${HAR}) + 1`, 'onInputData()', 'alert(1);']) {
      expect(() => parseRecording(text)).toThrow(InputError);
    }
  });
});
