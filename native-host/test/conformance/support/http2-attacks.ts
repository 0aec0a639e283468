/** Answers over HTTP/2 that are small and cost much. */
import { type Case, RIGHT } from './cases.ts';
import type { Bytes } from './hostile-tcp-origin.ts';
import { ITS_LENGTH } from './http2-cases.ts';
import {
  data,
  FLAG,
  FRAME_BYTES,
  field,
  frame,
  H2_FRAME,
  head,
  ITS_STREAM,
  number,
  STATUS_200,
  setting,
} from './http2-frames.ts';
import { prefixed } from './prefixed-integer.ts';

const { DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION } = H2_FRAME;

/** A field that the dynamic table keeps, and its first place there. */
const KEPT = field('x-a', 'b'.repeat(4_000), 64);
const KEPT_AGAIN = 0xbe;

/** 48 MB of fields in a frame. */
const BOMB = Buffer.concat([STATUS_200, KEPT, Buffer.alloc(FRAME_BYTES - KEPT.length - 1, KEPT_AGAIN)]);

export const HTTP2_BOMBS: Case<Bytes>[] = [
  {
    name: 'a head that unpacks to 48 MB',
    pieces: [frame(HEADERS, FLAG.END_HEADERS, ITS_STREAM, BOMB), data(RIGHT)],
    after: 'keep',
    right: [null],
  },
  {
    name: 'a head that unpacks without end',
    pieces: [frame(HEADERS, 0, ITS_STREAM, BOMB)],
    endless: frame(CONTINUATION, 0, ITS_STREAM, Buffer.alloc(FRAME_BYTES, KEPT_AGAIN)),
    after: 'keep',
    right: [null],
  },
  {
    name: '1xx that unpack without end',
    pieces: [frame(HEADERS, FLAG.END_HEADERS, ITS_STREAM, Buffer.concat([field(':status', '103'), KEPT]))],
    endless: frame(
      HEADERS,
      FLAG.END_HEADERS,
      ITS_STREAM,
      Buffer.concat([field(':status', '103'), Buffer.alloc(FRAME_BYTES / 2, KEPT_AGAIN)]),
    ),
    after: 'keep',
    right: [null],
  },
  {
    name: 'trailers that unpack to 48 MB',
    pieces: [
      head(),
      data(RIGHT, 0),
      frame(HEADERS, FLAG.END_HEADERS | FLAG.END_STREAM, ITS_STREAM, BOMB.subarray(1)),
    ],
    after: 'keep',
    right: [null],
  },
  {
    name: 'a head of 16,000 fields',
    // `accept-encoding: gzip, deflate` of the static table.
    pieces: [
      frame(HEADERS, FLAG.END_HEADERS, ITS_STREAM, Buffer.concat([STATUS_200, Buffer.alloc(16_000, 0x90)])),
      data(RIGHT),
    ],
    after: 'keep',
    right: [null],
  },
  {
    name: 'a head that changes its table 4,000 times',
    pieces: [
      frame(
        HEADERS,
        FLAG.END_HEADERS,
        ITS_STREAM,
        Buffer.concat([Buffer.alloc(16_000, Buffer.from([0x20, 0x3f, 0xe1, 0x1f])), STATUS_200, ITS_LENGTH]),
      ),
      data(RIGHT),
    ],
    after: 'keep',
    right: [RIGHT, null],
  },
  {
    name: 'a head with a table beyond what is allowed',
    pieces: [
      frame(HEADERS, FLAG.END_HEADERS, ITS_STREAM, Buffer.concat([prefixed(0x20, 5, 2 ** 20), STATUS_200])),
      data(RIGHT),
    ],
    after: 'keep',
    right: [null],
  },
  {
    name: 'a head with a field that the table does not have',
    pieces: [
      frame(HEADERS, FLAG.END_HEADERS, ITS_STREAM, Buffer.concat([STATUS_200, prefixed(0x80, 7, 5_000)])),
      data(RIGHT),
    ],
    after: 'keep',
    right: [null],
  },
];

/** Answers over HTTP/2 that have no end, and nothing wrong in them but that. */
export const HTTP2_FLOODS: [string, Bytes][] = Object.entries({
  'a head of no more bytes': [
    frame(HEADERS, 0, ITS_STREAM, STATUS_200),
    frame(CONTINUATION, 0, ITS_STREAM, Buffer.alloc(0)),
  ],
  PING: [head(), frame(PING, 0, 0, Buffer.alloc(8))],
  'answers to no PING': [head(), frame(PING, FLAG.ACK, 0, Buffer.alloc(8))],
  SETTINGS: [head(), frame(SETTINGS, 0, 0, Buffer.alloc(0))],
  'settings of a table': [
    head(),
    Buffer.concat([frame(SETTINGS, 0, 0, setting(1, 0)), frame(SETTINGS, 0, 0, setting(1, 2 ** 31))]),
  ],
  'settings of a window': [
    head(),
    Buffer.concat([frame(SETTINGS, 0, 0, setting(4, 0)), frame(SETTINGS, 0, 0, setting(4, 2 ** 31 - 1))]),
  ],
  'empty pieces of a body': [head(), data('', 0)],
  'padding in place of a body': [head(), frame(DATA, FLAG.PADDED, ITS_STREAM, Buffer.alloc(2, 1))],
  'window updates': [head(), frame(WINDOW_UPDATE, 0, 0, number(1))],
  priorities: [head(), frame(PRIORITY, 0, ITS_STREAM, Buffer.from([0, 0, 0, 0, 1]))],
  'resets of another stream': [head(), frame(RST_STREAM, 0, 1, number(8))],
  'unknown frames': [head(), frame(99, 0, 0, Buffer.alloc(9))],
  '1xx': [Buffer.alloc(0), frame(HEADERS, FLAG.END_HEADERS, ITS_STREAM, field(':status', '103'))],
}).map(([name, [first, one]]) => [name, flood(first!, one!)]);

function flood(first: Buffer, one: Buffer): Bytes {
  return { pieces: [first], after: 'keep', endless: Buffer.concat(Array.from({ length: 500 }, () => one)) };
}

/** Costs nghttp2 more than the origin. */
export const GOAWAY_FLOOD = flood(
  head(),
  frame(GOAWAY, 0, 0, Buffer.concat([number(2 ** 31 - 1), number(0)])),
);
