import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { exchangeOrder } from '../../src/exchange/exchange-order.ts';
import { endToEnd, isFieldValue, responseFields } from '../../src/exchange/headers.ts';
import { ResponseSections } from '../../src/exchange/response-sections.ts';

describe('headers of one connection', () => {
  it('are left out, with those that Connection names', () => {
    expect(
      endToEnd([
        ['Connection', 'close, X-Own'],
        ['connection', 'x-other'],
        ['Keep-Alive', 'timeout=5'],
        ['x-own', '1'],
        ['X-Other', '2'],
        ['Upgrade', 'h2c'],
        ['x-kept', '3'],
      ]),
    ).toEqual([['x-kept', '3']]);
  });

  it('frame a response, not what is passed on of it', () => {
    expect(
      responseFields([
        ['content-length', '5'],
        ['transfer-encoding', 'chunked'],
      ]),
    ).toEqual([]);
    expect(responseFields([['content-length', '5']])).toEqual([['content-length', '5']]);
    expect(responseFields([['content-length', '5,5 ,  5']])).toEqual([['content-length', '5,5 ,  5']]);
    expect(() => responseFields([['Content-Length', '5, 6']])).toThrow('two lengths');
  });
});

it('knows values that stay in their line', () => {
  expect(isFieldValue('grüße "\t"')).toBe(true);
  for (const bad of ['a\rb', 'a\nb', 'a\0b', 'a\u0100b']) expect(isFieldValue(bad)).toBe(false);
});

describe('an order', () => {
  const request = {
    protocol: 'h2',
    method: 'GET',
    url: 'https://a.example/',
    headers: [],
    body: null,
  } as const;

  it('keeps the request target as it is', () => {
    const targets = ['', '/', '?a', '/a/../b', '/%2e%2E/|{}"?x[]=1'].map(
      (rest) => exchangeOrder({ ...request, url: `https://a.example:8443${rest}` }, 0).target,
    );
    expect(targets).toEqual(['/', '/', '/?a', '/a/../b', '/%2e%2E/|{}"?x[]=1']);
    expect(exchangeOrder({ ...request, url: 'https://[::1]:443/a' }, 0).origin).toBe('https://[::1]:443/');
  });

  it.each([
    'http://a.example/',
    'https://a.example/#b',
    'https://a b/',
    'https://a.example/ä',
    'https://u:p@a.example/',
    'https:///a',
    'a.example',
  ])('is not made of %s', (url) => {
    expect(() => exchangeOrder({ ...request, url }, 0)).toThrow('no https URL');
  });

  it('takes the length from the header', () => {
    const bodyOf = (value: string | null, body: Readable | null): unknown =>
      exchangeOrder({ ...request, headers: value === null ? [] : [['Content-Length', value]], body }, 0).body;
    expect(bodyOf(null, null)).toBe('none');
    expect(bodyOf('0', null)).toBe(0);
    expect(bodyOf(null, Readable.from([]))).toBe('unknown');
    expect(bodyOf('17', Readable.from([]))).toBe(17);
    for (const bad of ['-1', '1e3', '0x1', '']) expect(() => bodyOf(bad, Readable.from([]))).toThrow();
  });
});

describe('the sections of a response', () => {
  it('end with their empty lines; what follows the last is trailers', () => {
    const sections = new ResponseSections();
    const ended = [
      'HTTP/2 103 \r\n',
      'link: <a>\r\n',
      '\r\n',
      'HTTP/2 200 \r\n',
      'b:1\r\n',
      'a: \t2 \r\n',
      'b: HTTP/1.1 200\r\n',
      '\r\n',
      't: 1\r\n',
      '\r\n',
    ].map((line) => sections.line(line));
    expect(ended.filter(Boolean)).toEqual([
      { status: 103, headers: [['link', '<a>']] },
      {
        status: 200,
        headers: [
          ['b', '1'],
          ['a', '2'],
          ['b', 'HTTP/1.1 200'],
        ],
      },
    ]);
    expect(sections.trailers).toEqual([['t', '1']]);
  });
});
