import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countRuns } from '../../../../scripts/suites/draw-share.ts';
import { JsonBytes } from '../../../src/recording/json/json-bytes.ts';

/** Equals the `MAX_STRING_BYTES` of the source. */
const MAX_STRING_BYTES = 65_536;

function kept(text: string, pieces: readonly number[] = []): unknown {
  const bytes = new TextEncoder().encode(text);
  const json = new JsonBytes();
  let from = 0;
  for (const length of pieces) {
    json.add(bytes.subarray(from, from + length));
    from += length;
  }
  json.add(bytes.subarray(from));
  return JSON.parse(json.end((kept) => new TextDecoder().decode(kept)));
}

/** Bytes of a string as written between its quotes. */
const written = (value: string): number => new TextEncoder().encode(JSON.stringify(value)).length - 2;

/** Strings about as long as the limit and far longer, with ends that resemble a closing quote. */
const string = fc
  .tuple(
    fc.constantFrom(
      0,
      10,
      MAX_STRING_BYTES - 4,
      MAX_STRING_BYTES - 1,
      MAX_STRING_BYTES,
      MAX_STRING_BYTES + 1,
      3 * MAX_STRING_BYTES,
    ),
    fc.array(fc.constantFrom('"', '\\', 'a', 'ä', '\n', ','), { maxLength: 8 }),
    fc.array(fc.constantFrom('"', '\\', 'b'), { maxLength: 4 }),
  )
  .map(
    ([length, middle, end]) => `${'x'.repeat(length)}${middle.join('')}${'y'.repeat(length)}${end.join('')}`,
  );

describe('kept JSON', () => {
  test('is everything but strings longer than any field, for all divisions into pieces', () => {
    const texts = fc.tuple(
      fc.array(string, { maxLength: 4 }),
      fc.array(fc.integer({ min: 0, max: 2 * MAX_STRING_BYTES }), { maxLength: 6 }),
    );
    fc.assert(
      fc.property(texts, ([strings, pieces]) => {
        const all = { strings, end: 'whole' };
        const expected = {
          ...all,
          strings: strings.map((one) => (written(one) > MAX_STRING_BYTES ? '' : one)),
        };
        expect(kept(JSON.stringify(all), pieces)).toEqual(expected);
      }),
      { numRuns: countRuns(50, 150) },
    );
  });

  test('is without bodies, however short, and without messages of web sockets', () => {
    const body = 'a "quoted" \\ body, [{}]';
    const all = (filled: string) => ({
      response: { content: { size: 21, mimeType: 'text/html', text: filled } },
      frames: [{ type: 'send', data: filled }],
      // Values that are no bodies, and names that only end alike.
      list: ['text', 'kept', 'data'],
      context: 'kept',
      text: 5,
      data: { of: 'kept' },
      texts: 'kept',
    });
    const spaced = JSON.stringify(all(body), null, 2).replaceAll(': ', ' :\n ');
    for (const text of [JSON.stringify(all(body)), spaced]) {
      for (let at = 0; at < text.length; at++) expect(kept(text, [at, 1])).toEqual(all(''));
    }
  });

  test('is without cookies, queries, forms and messages of web sockets', () => {
    const all = (list: unknown[], form: object) => ({
      request: { cookies: list, queryString: list, postData: form, url: 'kept' },
      _webSocketMessages: list,
      // A value of that name, and a name that only ends alike.
      of: 'cookies',
      noCookies: list,
      texts: ['a', { b: [] }],
    });
    const list = [{ name: 'a "]"', value: [{ headers: [] }] }, 'b \\', 5];
    const filled = all(list, { text: 'c', params: list });
    const expected = { ...all([], {}), noCookies: list };
    for (const text of [JSON.stringify(filled), JSON.stringify(filled, null, 2)]) {
      for (let at = 0; at < text.length; at++) expect(kept(text, [at, 1])).toEqual(expected);
    }
  });

  test('has of a list of headers the first one, and those that are read', () => {
    const first = { name: 'Date', value: 'today' };
    const read = [
      { name: ':status', value: '200' },
      { value: 'h3=":443"', name: 'Alt-Svc' },
      { name: 'referer', value: { name: 'x-a', headers: [first, first] } },
    ];
    const others = [
      { name: 'x-a', value: 'b' },
      { value: ['c', { name: 'alt-svc' }], name: 'alt-sv' },
      { name: '', cookies: [1] },
    ];
    // These forms are rare, and kept as they are.
    const pairs = [['x-a', 'b'], [], ['referer', 'c']];
    const all = (headers: unknown[]) => ({ headers, more: [{ headers }, { headers: pairs }], name: 'x-a' });
    const mixed = [first, ...others, read[0], others[0], read[1], read[2], ...others];
    const expected = all([first, ...read]);
    for (const text of [JSON.stringify(all(mixed)), JSON.stringify(all(mixed), null, 2)]) {
      for (let at = 0; at < text.length; at++) expect(kept(text, [at, 1])).toEqual(expected);
    }
    const unlike = { headers: { 'x-a': 'b', name: 'x-a' }, of: { headers: [5, {}, 'name', null] } };
    expect(kept(JSON.stringify(unlike))).toEqual(unlike);
  });

  test('has of a stack the URLs of its scripts, each once, and of 40 the first 32', () => {
    const frame = (url: unknown, functionName = 'url') => ({
      functionName,
      scriptId: '7',
      url,
      lineNumber: 1,
    });
    const all = (stack: unknown) => ({
      _initiator: { type: 'script', stack, url: 'kept' },
      args: { data: { stackTrace: stack } },
      of: ['stack', { stacks: { url: 'kept' } }],
    });
    const mixed = {
      callFrames: [frame('a.js'), frame('b"\\.js'), frame('a.js', ''), frame(''), frame(5, 'c.js')],
      parent: {
        description: 'await',
        callFrames: [frame('c.js'), frame('b"\\.js'), frame(['d.js'])],
        parent: { callFrames: [], parentId: { id: 'url' }, parent: { callFrames: [frame('ab.js')] } },
      },
    };
    const expected = all(['a.js', 'b"\\.js', 'c.js', 'ab.js']);
    for (const text of [JSON.stringify(all(mixed)), JSON.stringify(all(mixed), null, 2)]) {
      expect(kept(text)).toEqual(expected);
      for (let at = 0; at < 600; at++) expect(kept(text, [at, 1])).toEqual(expected);
    }
    const names = Array.from({ length: 40 }, (_, index) => `${index}.js`);
    const endless = frame('x'.repeat(MAX_STRING_BYTES + 1));
    const long = all([endless, ...names.map((name) => frame(name))]);
    expect(kept(JSON.stringify(long))).toEqual(all(names.slice(0, 32)));
    expect(kept(JSON.stringify(all('text')))).toEqual(all('text'));
    expect(kept(JSON.stringify(all({})))).toEqual(all([]));
  });

  test('has a URL whole that comes after a comma of its own when memory is full', () => {
    const piece = 64 * 1024;
    const url = 'x'.repeat(piece - 1);
    const before = '{"pads":["","","",""],"stack":["a"';
    const pads = [0, 1, 2].map(() => 'x'.repeat(piece - 100));
    const last = 'x'.repeat(3 * piece - before.length - pads.join('').length);
    const json = new JsonBytes();
    for (const text of [
      `{"pads":${JSON.stringify([...pads, last])},"stack":[{"url":"a","url":`,
      `"${url}`,
      '"}]}',
    ])
      json.add(new TextEncoder().encode(text));
    const text = json.end((bytes) => new TextDecoder().decode(bytes));
    expect(JSON.parse(text)).toEqual({ pads: [...pads, last], stack: ['a', url] });
  });

  test('is without blanks, but where text that is no JSON would become JSON', () => {
    const json = new JsonBytes();
    json.add(new TextEncoder().encode(' { "a b" :\t[ 1 , true ]\r\n} '));
    expect(json.end((kept) => new TextDecoder().decode(kept))).toBe('{"a b":[1 ,true ]}');
    for (const text of ['[1 2]', '[tr ue]', '[-\n1]']) expect(() => kept(text)).toThrow(SyntaxError);
  });

  test('counts for the limits, and nothing that is left out', () => {
    const header = { name: 'x-a', value: 'b' };
    const entry = { headers: new Array(45).fill(header), cookies: new Array(45).fill(header) };
    const entries = new Array(10_000).fill(entry);
    const expected = { entries: new Array(10_000).fill({ headers: [header], cookies: [] }) };
    expect(kept(JSON.stringify({ entries }))).toEqual(expected);
    const frame = { url: 'a.js' };
    const parent = { callFrames: new Array(20).fill(frame), parent: { callFrames: [frame, frame] } };
    const asked = new Array(10_000).fill({ stack: { callFrames: new Array(20).fill(frame), parent } });
    expect(kept(JSON.stringify(asked))).toEqual(new Array(10_000).fill({ stack: ['a.js'] }));
    const refusal = 'expected at most 1000000 values in 250000 objects and arrays, got more';
    const read = { name: 'referer', value: 'b' };
    for (const headers of [new Array(250_000).fill(read), [{ ...header, of: new Array(250_000).fill([]) }]]) {
      expect(() => kept(JSON.stringify({ headers }))).toThrow(refusal);
    }
    const scripts = Array.from({ length: 40 }, (_, index) => ({ url: `${index}.js` }));
    expect(() => kept(JSON.stringify(new Array(32_000).fill({ stack: scripts })))).toThrow(refusal);
  });

  test('may be that of a file with more bodies than a recording may have', () => {
    const entry = { content: { text: 'x'.repeat(21_000) } };
    const text = JSON.stringify({ log: { entries: new Array(1_100).fill(entry) } });
    expect(text.length).toBeGreaterThan(22e6);
    expect(kept(text)).toEqual({ log: { entries: new Array(1_100).fill({ content: { text: '' } }) } });
  });

  test('has a long string emptied when it comes byte by byte around each of its backslashes', () => {
    const value = `${'x'.repeat(MAX_STRING_BYTES)}\\"\\\\"\\`;
    const text = JSON.stringify([value, 'then']);
    for (let at = MAX_STRING_BYTES - 4; at < text.length; at++) {
      expect(kept(text, [at, 1, 1])).toEqual(['', 'then']);
    }
  });
});
