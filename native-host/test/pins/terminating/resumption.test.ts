import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { HeaderField } from '../../../src/exchange/headers.ts';
import { askFrom, isRestOf, resumptionOf } from '../../../src/pins/terminating/resumption.ts';

const GET = { method: 'GET', body: null, headers: [] as HeaderField[] };
const TAG: HeaderField = ['ETag', '"a\x80-b"'];
const LENGTH: HeaderField = ['content-length', '1000'];
const MODIFIED: HeaderField = ['Last-Modified', 'Mon, 02 Nov 2026 10:00:00 GMT'];
const sentAt = (time: string): HeaderField => ['date', `Mon, 02 Nov 2026 ${time} GMT`];

const validatorOf = (headers: HeaderField[], request = {}, status = 200): string | null =>
  resumptionOf({ ...GET, ...request }, { status, headers })?.validator ?? null;

describe('a response can be resumed', () => {
  it('by a strong entity tag, or by a date that is one', () => {
    expect(validatorOf([LENGTH, TAG])).toBe('"a\x80-b"');
    expect(validatorOf([LENGTH, TAG, MODIFIED, sentAt('10:00:00')])).toBe('"a\x80-b"');
    expect(validatorOf([LENGTH, MODIFIED, sentAt('10:01:00')])).toBe('Mon, 02 Nov 2026 10:00:00 GMT');
    expect(validatorOf([LENGTH, TAG, ['accept-ranges', 'bytes']])).toBe('"a\x80-b"');
    expect(validatorOf([LENGTH, TAG, ['content-encoding', 'br']])).toBe('"a\x80-b"');
  });

  it.each<[string, HeaderField[]]>([
    ['no validator', [LENGTH]],
    ['a weak tag, whatever the date', [LENGTH, ['etag', 'W/"a"'], MODIFIED, sentAt('12:00:00')]],
    ['a tag without quotes', [LENGTH, ['etag', 'a']]],
    ['two tags', [LENGTH, TAG, TAG]],
    ['two tags in one line', [LENGTH, ['etag', '"a", "b"']]],
    ['a date less than a minute old', [LENGTH, MODIFIED, sentAt('10:00:59')]],
    ['a date to come', [LENGTH, MODIFIED, sentAt('09:00:00')]],
    ['a date of unknown age', [LENGTH, MODIFIED]],
    ['a date in another form', [LENGTH, ['last-modified', '2026-11-02'], sentAt('10:01:00')]],
    ['no length', [TAG]],
    ['an odd length', [TAG, ['content-length', '0x10']]],
    ['no ranges', [LENGTH, TAG, ['Accept-Ranges', 'None']]],
    ['trailers', [LENGTH, TAG, ['trailer', 'x-digest']]],
  ])('not with %s', (_what, headers) => {
    expect(validatorOf(headers)).toBeNull();
  });

  it('not of another status, method or request', () => {
    for (const status of [203, 206, 404]) expect(validatorOf([LENGTH, TAG], {}, status)).toBeNull();
    expect(validatorOf([LENGTH, TAG], { method: 'HEAD' })).toBeNull();
    expect(validatorOf([LENGTH, TAG], { method: 'POST' })).toBeNull();
    expect(validatorOf([LENGTH, TAG], { body: Readable.from(['a']) })).toBeNull();
    for (const name of ['Range', 'if-range'])
      expect(validatorOf([LENGTH, TAG], { headers: [[name, 'bytes=0-']] })).toBeNull();
  });
});

it('asks for the rest as for the whole', () => {
  const resumption = resumptionOf(GET, { status: 200, headers: [LENGTH, TAG] })!;
  const asked: HeaderField[] = [
    ['accept-encoding', 'gzip, br'],
    ['cookie', 'a=1'],
  ];
  expect(askFrom(asked, resumption, 600)).toEqual([
    ...asked,
    ['range', 'bytes=600-'],
    ['if-range', '"a\x80-b"'],
  ]);
});

describe('an answer is the rest', () => {
  const type: HeaderField = ['content-type', 'text/css'];
  const coding: HeaderField = ['content-encoding', 'gzip'];
  const whole = [LENGTH, TAG, MODIFIED, type, coding];
  const resumption = resumptionOf(GET, { status: 200, headers: whole })!;
  const range: HeaderField = ['Content-Range', 'bytes 600-999/1000'];
  const rest = [range, TAG, MODIFIED, coding];
  const without = (fields: HeaderField[], ...left: HeaderField[]): HeaderField[] =>
    fields.filter((field) => !left.includes(field));
  const isRest = (headers: HeaderField[], status = 206): boolean =>
    isRestOf(resumption, 600, { status, headers });

  it('where everything agrees', () => {
    expect(isRest(rest)).toBe(true);
    expect(isRest([...rest, ['content-length', '400'], type])).toBe(true);
    expect(isRest([...without(rest, range), ['content-range', 'Bytes 600-999/1000']])).toBe(true);
  });

  it('not with another status', () => {
    for (const status of [200, 203, 304, 412, 416]) expect(isRest(rest, status)).toBe(false);
  });

  it.each([
    'bytes 601-999/1000',
    'bytes 0-999/1000',
    'bytes 600-998/1000',
    'bytes 600-999/1001',
    'bytes 600-999/*',
    'bytes */1000',
    'bytes=600-999/1000',
    'bytes 600-999/1000, bytes 0-1/1000',
    'items 600-999/1000',
    '',
  ])('not with the range "%s"', (value) => {
    expect(isRest([...without(rest, range), ['content-range', value]])).toBe(false);
  });

  it.each<[string, HeaderField[]]>([
    ['no range', without(rest, range)],
    ['two ranges', [...rest, range]],
    ['several parts', [...without(rest, range), ['content-type', 'multipart/byteranges; boundary=a']]],
    ['several parts and a range', [...rest, ['content-type', 'multipart/byteranges; boundary=a']]],
    ['another length', [...rest, ['content-length', '401']]],
    ['no tag', without(rest, TAG)],
    ['another tag', [...without(rest, TAG), ['etag', '"b"']]],
    ['the tag weakly', [...without(rest, TAG), ['etag', `W/${TAG[1]}`]]],
    ['another date', [...without(rest, MODIFIED), ['last-modified', 'Mon, 02 Nov 2026 10:00:01 GMT']]],
    ['no coding', without(rest, coding)],
    ['another coding', [...without(rest, coding), ['content-encoding', 'br']]],
  ])('not with %s', (_what, headers) => {
    expect(isRest(headers)).toBe(false);
  });
});
