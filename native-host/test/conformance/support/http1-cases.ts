/** Answers over HTTP/1.1, good and bad, and what may become of them. */
import { gzipSync } from 'node:zlib';
import { type Case, MIB, RIGHT } from './cases.ts';
import type { Bytes } from './hostile-tcp-origin.ts';
import { frame, H2_FRAME } from './http2-frames.ts';

const EVIL = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil';

function text(head: string, body = ''): Uint8Array[] {
  return [Buffer.from(`${head.replaceAll('\n', '\r\n')}\r\n\r\n${body}`, 'latin1')];
}

/** A body in chunks. */
function chunked(body: string, size: number): string {
  const chunks = body.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
  return `${chunks.map((chunk) => `${chunk.length.toString(16)};a=b\r\n${chunk}\r\n`).join('')}0\r\n\r\n`;
}

const OK = 'HTTP/1.1 200 OK';
const LENGTH = `${OK}\nContent-Length: ${RIGHT.length}`;
const CHUNKED = `${OK}\nTransfer-Encoding: chunked`;
const COOKIES = Array.from({ length: 400 }, (_, index) => `Set-Cookie: ${index}=${'c'.repeat(300)}`).join(
  '\n',
);
const MANY_1XX = 'HTTP/1.1 103 Early Hints\nLink: </a>\n\n'.replaceAll('\n', '\r\n').repeat(100);

export const HTTP1_CASES: Case<Bytes>[] = [
  { name: 'as long as it says', pieces: text(LENGTH, RIGHT), after: 'keep', right: [RIGHT] },
  { name: 'shorter than it says', pieces: text(LENGTH, RIGHT.slice(1)), after: 'end', right: [null] },
  { name: 'longer than it says', pieces: text(LENGTH, RIGHT + EVIL), after: 'keep', right: [RIGHT] },
  { name: 'in chunks', pieces: text(CHUNKED, chunked(RIGHT, 7)), after: 'keep', right: [RIGHT] },
  {
    name: 'in chunks, and more',
    pieces: text(CHUNKED, chunked(RIGHT, 7) + EVIL),
    after: 'keep',
    right: [RIGHT],
  },
  {
    name: 'in chunks without the last',
    pieces: text(CHUNKED, chunked(RIGHT, 7).slice(0, -5)),
    after: 'end',
    right: [null],
  },
  { name: 'in chunks of no size', pieces: text(CHUNKED, `xyz\r\n${RIGHT}`), after: 'keep', right: [null] },
  {
    name: 'in chunks of a huge size',
    pieces: text(CHUNKED, `ffffffffffffffffff\r\n${RIGHT}`),
    after: 'end',
    right: [null],
  },
  {
    name: 'in chunks and of a length',
    pieces: text(`${LENGTH}0\nTransfer-Encoding: chunked`, chunked(RIGHT, 9)),
    after: 'keep',
    right: [RIGHT, null],
  },
  {
    name: 'of two lengths',
    pieces: text(`${LENGTH}\nContent-Length: 3`, RIGHT),
    after: 'keep',
    right: [null],
  },
  {
    name: 'of a negative length',
    pieces: text(`${OK}\nContent-Length: -5`, RIGHT),
    after: 'end',
    right: [null],
  },
  {
    name: 'of a length that is none',
    pieces: text(`${OK}\nContent-Length: 5x`, RIGHT),
    after: 'end',
    right: [null],
  },
  {
    // Where blanks take time by their square, the engine is busy for a minute.
    name: 'of a length with blanks without end behind it',
    pieces: text(`${LENGTH}${' '.repeat(90_000)}x`, RIGHT),
    after: 'end',
    right: [RIGHT, null],
  },
  { name: 'to the end', pieces: text(OK, RIGHT), after: 'end', right: [RIGHT] },
  { name: 'to a reset', pieces: text(OK, RIGHT), after: 'reset', right: [null] },
  { name: 'reset within', pieces: text(LENGTH, RIGHT.slice(9)), after: 'reset', right: [null] },
  { name: 'ended within its head', pieces: [Buffer.from(`${LENGTH}\r\n`)], after: 'end', right: [null] },
  { name: 'nothing', pieces: [], after: 'end', right: [null] },
  {
    name: 'after many 1xx',
    pieces: [Buffer.from(MANY_1XX), ...text(LENGTH, RIGHT)],
    after: 'keep',
    right: [RIGHT],
  },
  { name: '1xx without end', pieces: [], endless: Buffer.from(MANY_1XX), after: 'keep', right: [null] },
  {
    name: 'a head without end',
    pieces: [Buffer.from(`${OK}\r\n`)],
    endless: Buffer.from('X-A: bbbbbbb\r\n'.repeat(500)),
    after: 'keep',
    right: [null],
  },
  {
    name: 'a field without end',
    pieces: [Buffer.from(`${OK}\r\nX-A: `)],
    endless: Buffer.alloc(9_000, 'b'),
    after: 'keep',
    right: [null],
  },
  {
    name: 'a status line without end',
    pieces: [Buffer.from(OK)],
    endless: Buffer.alloc(9_000, 'b'),
    after: 'keep',
    right: [null],
  },
  {
    name: 'with a long field',
    pieces: text(`${LENGTH}\nX-A: ${'b'.repeat(60_000)}`, RIGHT),
    after: 'keep',
    right: [RIGHT],
  },
  { name: 'with many cookies', pieces: text(`${LENGTH}\n${COOKIES}`, RIGHT), after: 'keep', right: [RIGHT] },
  { name: 'with NUL in a field', pieces: text(`${LENGTH}\nX-A: b\0c`, RIGHT), after: 'end', right: [null] },
  {
    name: 'with CR in a field',
    pieces: text(`${LENGTH}\nX-A: b\rContent-Length: 1`, RIGHT),
    after: 'end',
    right: [RIGHT, null],
  },
  {
    name: 'with a name that is none',
    pieces: text(`${LENGTH}\nX A\x01: b`, RIGHT),
    after: 'end',
    right: [RIGHT, null],
  },
  {
    name: 'with a field without a colon',
    pieces: text(`${LENGTH}\nnonsense`, RIGHT),
    after: 'end',
    right: [RIGHT, null],
  },
  {
    name: 'with a folded field',
    pieces: text(`${LENGTH}\nX-A: b\n c`, RIGHT),
    after: 'keep',
    right: [RIGHT],
  },
  {
    name: 'in lines that LF ends',
    pieces: [Buffer.from(`${LENGTH}\n\n${RIGHT}`)],
    after: 'keep',
    right: [RIGHT, null],
  },
  {
    name: '101',
    pieces: text('HTTP/1.1 101 Switching Protocols\nUpgrade: x\nConnection: upgrade', RIGHT),
    after: 'keep',
    right: [null],
  },
  {
    name: '204 with a body',
    pieces: text('HTTP/1.1 204 No Content', EVIL),
    after: 'keep',
    right: [''],
    status: 204,
  },
  {
    name: '304 with a body',
    pieces: text('HTTP/1.1 304 Not Modified\nContent-Length: 45', EVIL),
    after: 'keep',
    right: [''],
    status: 304,
  },
  {
    name: 'of a short status',
    pieces: text('HTTP/1.1 20 OK\nContent-Length: 0'),
    after: 'end',
    right: [null],
  },
  {
    name: 'of a long status',
    pieces: text('HTTP/1.1 2000 OK\nContent-Length: 0'),
    after: 'end',
    // libcurl takes the first three figures.
    right: ['', null],
  },
  {
    name: 'of another version',
    pieces: text('HTTP/9.9 200 OK\nContent-Length: 0'),
    after: 'end',
    right: [null],
  },
  { name: 'in HTTP/0.9', pieces: [Buffer.from(RIGHT)], after: 'end', right: [null] },
  {
    name: 'in HTTP/2',
    pieces: [frame(H2_FRAME.SETTINGS, 0, 0, Buffer.alloc(0))],
    after: 'end',
    right: [null],
  },
];

const BOMB = gzipSync(Buffer.alloc(64 * MIB)).toString('latin1');
HTTP1_CASES.push({
  name: 'a bomb, untouched',
  pieces: text(`${OK}\nContent-Encoding: gzip\nContent-Length: ${BOMB.length}`, BOMB),
  after: 'keep',
  right: [BOMB],
});
