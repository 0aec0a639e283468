/** Answers over HTTP/2, good and bad, and what may become of them. */
import { type Case, RIGHT } from './cases.ts';
import type { Bytes } from './hostile-tcp-origin.ts';
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

const { DATA, HEADERS, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION } =
  H2_FRAME;
export const ITS_LENGTH = field('content-length', String(RIGHT.length));
export const WELL: Case<Bytes> = {
  name: 'well',
  pieces: [head(ITS_LENGTH), data(RIGHT)],
  after: 'keep',
  right: [RIGHT],
};

const CASES: Case<Bytes>[] = [
  { name: 'without a length', pieces: [head(), data(RIGHT)], after: 'keep', right: [RIGHT] },
  {
    name: 'shorter than it says',
    pieces: [head(ITS_LENGTH), data(RIGHT.slice(1))],
    after: 'keep',
    right: [null],
  },
  {
    name: 'longer than it says',
    pieces: [head(ITS_LENGTH), data(`${RIGHT}evil`)],
    after: 'keep',
    right: [null],
  },
  {
    name: 'of two lengths',
    pieces: [head(ITS_LENGTH, field('content-length', '3')), data(RIGHT)],
    after: 'keep',
    right: [null],
  },
  {
    name: 'reset within',
    pieces: [head(), data(RIGHT, 0), frame(RST_STREAM, 0, ITS_STREAM, number(2))],
    after: 'keep',
    right: [null],
  },
  { name: 'cut within', pieces: [head(), data(RIGHT, 0)], after: 'end', right: [null] },
  {
    name: 'a connection that goes away',
    pieces: [frame(GOAWAY, 0, 0, Buffer.concat([number(0), number(0)]))],
    after: 'end',
    right: [null],
  },
  {
    name: 'of no status',
    pieces: [frame(HEADERS, 5, ITS_STREAM, field('x-a', 'b'))],
    after: 'keep',
    right: [null],
  },
  {
    name: 'of a status that is none',
    pieces: [frame(HEADERS, 5, ITS_STREAM, field(':status', '2x0'))],
    after: 'keep',
    right: [null],
  },
  {
    name: '101',
    pieces: [frame(HEADERS, 4, ITS_STREAM, field(':status', '101')), data(RIGHT)],
    after: 'keep',
    right: [null],
  },
  {
    name: 'with capitals in a name',
    pieces: [head(field('X-A', 'b')), data(RIGHT)],
    after: 'keep',
    right: [RIGHT, null],
  },
  {
    name: 'with LF in a value',
    pieces: [head(field('x-a', 'b\r\nset-cookie: c')), data(RIGHT)],
    after: 'keep',
    right: [RIGHT, null],
  },
  {
    name: 'with NUL in a value',
    pieces: [head(field('x-a', 'b\0c')), data(RIGHT)],
    after: 'keep',
    right: [RIGHT, null],
  },
  {
    name: 'with a field of HTTP/1.1',
    pieces: [head(field('transfer-encoding', 'chunked')), data(RIGHT)],
    after: 'keep',
    right: [RIGHT, null],
  },
  {
    name: 'by push',
    pieces: [frame(PUSH_PROMISE, 4, ITS_STREAM, Buffer.concat([number(2), STATUS_200]))],
    after: 'end',
    right: [null],
  },
  {
    name: 'after unknown frames',
    pieces: [
      frame(99, 255, 0, Buffer.from('x')),
      head(),
      frame(98, 1, ITS_STREAM, Buffer.from('y')),
      data(RIGHT),
    ],
    after: 'keep',
    right: [RIGHT],
  },
  { name: 'of noise', pieces: [Buffer.alloc(500, 0xa5)], after: 'end', right: [null] },
  {
    name: 'a head without end',
    pieces: [frame(HEADERS, 0, ITS_STREAM, STATUS_200)],
    endless: frame(CONTINUATION, 0, ITS_STREAM, field('x-a', 'b'.repeat(100))),
    after: 'keep',
    right: [null],
  },
];

/** Frames that are an error of the connection or the stream (RFC 9113 section 6), before the body. */
const WRONG_FRAMES = Object.entries({
  'a window beyond 2^31-1': frame(WINDOW_UPDATE, 0, 0, number(2 ** 31 - 1)),
  'a window of its own beyond 2^31-1': frame(WINDOW_UPDATE, 0, ITS_STREAM, number(2 ** 31 - 1)),
  'a window update of nothing': frame(WINDOW_UPDATE, 0, 0, number(0)),
  'a window update cut short': frame(WINDOW_UPDATE, 0, 0, Buffer.alloc(3)),
  'a first window beyond 2^31-1': frame(SETTINGS, 0, 0, setting(4, 2 ** 31)),
  'frames of no size allowed': frame(SETTINGS, 0, 0, setting(5, 0)),
  'a setting of neither 0 nor 1': frame(SETTINGS, 0, 0, setting(2, 7)),
  'settings cut short': frame(SETTINGS, 0, 0, Buffer.alloc(5)),
  'settings on its stream': frame(SETTINGS, 0, ITS_STREAM, Buffer.alloc(0)),
  'settings in an acknowledgement': frame(SETTINGS, 1, 0, setting(4, 1)),
  'a ping cut short': frame(PING, 0, 0, Buffer.alloc(7)),
  'a ping on its stream': frame(PING, 0, ITS_STREAM, Buffer.alloc(8)),
  'a GOAWAY on its stream': frame(GOAWAY, 0, ITS_STREAM, Buffer.alloc(8)),
  'a reset of no stream': frame(RST_STREAM, 0, 0, number(0)),
  'a reset of a stream that is not open': frame(RST_STREAM, 0, 99_999, number(0)),
  'a reset cut short': frame(RST_STREAM, 0, ITS_STREAM, Buffer.alloc(3)),
  'a body on no stream': frame(DATA, 0, 0, Buffer.alloc(9)),
  'a body on a stream that is not open': frame(DATA, 0, 99_999, Buffer.alloc(9)),
  'a head on a stream of the server’s': frame(HEADERS, FLAG.END_HEADERS, 2, STATUS_200),
  'a head within another': Buffer.concat([
    frame(HEADERS, 0, ITS_STREAM, field('x-a', 'b')),
    frame(DATA, 0, ITS_STREAM, Buffer.alloc(9)),
  ]),
  'the rest of a head that was whole': frame(CONTINUATION, FLAG.END_HEADERS, ITS_STREAM, field('x-a', 'b')),
  'more padding than there is': frame(DATA, FLAG.PADDED, ITS_STREAM, Buffer.from([200, 1, 2])),
  'a frame beyond what is allowed': frame(DATA, 0, ITS_STREAM, Buffer.alloc(FRAME_BYTES * 2)),
  'a second status': frame(HEADERS, FLAG.END_HEADERS, ITS_STREAM, STATUS_200),
}).map(
  ([name, wrong]): Case<Bytes> => ({
    name: `with ${name}`,
    pieces: [head(ITS_LENGTH), wrong, data(RIGHT)],
    after: 'keep',
    // nghttp2 lets pass what concerns streams or windows that it does not need any more.
    right: [RIGHT, null],
  }),
);

/** RFC 9113 section 7, and a code that is none. */
const RESETS = [0, 1, 2, 3, 5, 7, 8, 11, 13, 4_000_000].map(
  (code): Case<Bytes> => ({
    name: `reset within by ${code}`,
    pieces: [head(), data(RIGHT.slice(9), 0), frame(RST_STREAM, 0, ITS_STREAM, number(code))],
    after: 'keep',
    // After NO_ERROR libcurl 8.14 takes the response for whole, as Chromium 156 does, though RFC 9113 section 8.1 has it follow a whole one.
    right: [code === 0 ? RIGHT.slice(9) : null],
  }),
);

export const HTTP2_CASES: Case<Bytes>[] = [WELL, ...CASES, ...WRONG_FRAMES, ...RESETS];
