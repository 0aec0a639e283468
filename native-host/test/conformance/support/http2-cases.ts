/** Answers over HTTP/2, good and bad, and what may become of them. */
import { field, frame, ITS_STREAM } from './hostile-origin.ts';
import { type Case, RIGHT } from './http1-cases.ts';

const HEADERS = 1;
const END_STREAM = 1;
const END_HEADERS = 4;
const STATUS_200 = Buffer.from([0x88]);

function head(...fields: Buffer[]): Buffer {
  return frame(HEADERS, END_HEADERS, ITS_STREAM, Buffer.concat([STATUS_200, ...fields]));
}

function data(body: string, flags = END_STREAM): Buffer {
  return frame(0, flags, ITS_STREAM, Buffer.from(body, 'latin1'));
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const ITS_LENGTH = field('content-length', String(RIGHT.length));
export const HTTP2_CASES: Case[] = [
  { name: 'well', pieces: [head(ITS_LENGTH), data(RIGHT)], after: 'keep', right: [RIGHT] },
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
    pieces: [head(), data(RIGHT, 0), frame(3, 0, ITS_STREAM, number(2))],
    after: 'keep',
    right: [null],
  },
  { name: 'cut within', pieces: [head(), data(RIGHT, 0)], after: 'end', right: [null] },
  {
    name: 'a connection that goes away',
    pieces: [frame(7, 0, 0, Buffer.concat([number(0), number(0)]))],
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
    pieces: [frame(5, 4, ITS_STREAM, Buffer.concat([number(2), STATUS_200]))],
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
    endless: frame(9, 0, ITS_STREAM, field('x-a', 'b'.repeat(100))),
    after: 'keep',
    right: [null],
  },
];
