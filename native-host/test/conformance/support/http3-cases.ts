/** Answers over HTTP/3, good and bad, and what may become of them. */
import { type Case, MIB, RIGHT } from './cases.ts';
import { type Http3Answer, SOUND_OPENING, type Step } from './hostile-http3-origin.ts';
import {
  fieldLine,
  fieldSection,
  grease,
  H3_FRAME,
  h3Frame,
  indexed,
  NO_DYNAMIC_TABLE,
  STATUS_103,
  STATUS_200,
  STREAM_TYPE,
  settings,
  varint,
} from './http3-frames.ts';
import { prefixed } from './prefixed-integer.ts';

const { CONTROL, PUSH, QPACK_ENCODER, QPACK_DECODER } = STREAM_TYPE;
const { DATA, HEADERS, CANCEL_PUSH, SETTINGS, PUSH_PROMISE, GOAWAY, MAX_PUSH_ID } = H3_FRAME;

/** RFC 9114 section 8.1. */
const CODE = { NO_ERROR: 0x100, INTERNAL: 0x102, REJECTED: 0x10b, CANCELLED: 0x10c, FALLBACK: 0x110 };

/** For what is on its way before a reset, which takes back what is not. */
const ON_ITS_WAY_MS = 20;

const PIECE = Buffer.alloc(16 * 1024, 'b');
const LONG_VALUE = 'b'.repeat(4_000);
export const LENGTH = fieldLine('content-length', String(RIGHT.length));
const HEAD = fieldSection(STATUS_200, LENGTH);
const BODY = data(RIGHT);
export const SOUND = Buffer.concat([HEAD, BODY]);

export const WELL: Case<Http3Answer> = { name: 'well', answer: [sent(SOUND)], right: [RIGHT] };

function data(body: string): Buffer {
  return h3Frame(DATA, Buffer.from(body, 'latin1'));
}

/** On the request's stream, to its end. */
function sent(...pieces: Uint8Array[]): Step {
  return { bytes: Buffer.concat(pieces), after: 'fin' };
}

function good(name: string, ...pieces: Uint8Array[]): Case<Http3Answer> {
  return { name, answer: [sent(...pieces)], right: [RIGHT] };
}

function bad(name: string, ...pieces: Uint8Array[]): Case<Http3Answer> {
  return { name, answer: [sent(...pieces)], right: [null] };
}

/** What libcurl does not look at as closely as RFC 9114 has it, and no harm comes of. */
function either(name: string, ...answer: Step[]): Case<Http3Answer> {
  return { name, answer, right: [RIGHT, null] };
}

/** With a sound answer after something that concerns the connection. */
function beside(name: string, ...steps: Step[]): Case<Http3Answer> {
  return either(name, ...steps, sent(SOUND));
}

/** A connection that begins otherwise. */
function opened(name: string, opening: Step[], right: (string | null)[]): Case<Http3Answer> {
  return { name, opening, answer: [sent(SOUND)], right };
}

function control(...frames: Uint8Array[]): Step[] {
  return [{ stream: 'control', bytes: Buffer.concat([varint(CONTROL), ...frames]) }];
}

function afterPart(after: 'reset' | 'close', code: number): Step[] {
  return [{ bytes: Buffer.concat([HEAD, BODY.subarray(0, 60)]), pauseMs: ON_ITS_WAY_MS, after, code }];
}

const SECTION_CASES: Case<Http3Answer>[] = [
  good('without a length', fieldSection(STATUS_200), BODY),
  good('in many frames', HEAD, ...[...RIGHT].map((each) => Buffer.concat([data(''), data(each)]))),
  bad('shorter than it says', HEAD, data(RIGHT.slice(1))),
  bad('longer than it says', HEAD, data(`${RIGHT}evil`)),
  bad('of two lengths', fieldSection(STATUS_200, LENGTH, fieldLine('content-length', '3')), BODY),
  bad('of a negative length', fieldSection(STATUS_200, fieldLine('content-length', '-5')), BODY),
  bad('of no status', fieldSection(fieldLine('x-a', 'b')), BODY),
  bad('of two statuses', fieldSection(STATUS_200, indexed(27)), BODY),
  bad('of a status that is none', fieldSection(fieldLine(':status', '2x0')), BODY),
  bad('of a status after fields', fieldSection(fieldLine('x-a', 'b'), STATUS_200), BODY),
  bad('with a pseudo-field of requests', fieldSection(STATUS_200, fieldLine(':path', '/')), BODY),
  bad('with an unknown pseudo-field', fieldSection(STATUS_200, fieldLine(':x', 'b')), BODY),
  bad('101', fieldSection(fieldLine(':status', '101')), BODY),
  bad('1xx at its end', fieldSection(STATUS_103)),
  good('after 1xx', ...Array.from({ length: 50 }, () => fieldSection(STATUS_103)), HEAD, BODY),
  either('with capitals in a name', sent(fieldSection(STATUS_200, fieldLine('X-A', 'b')), BODY)),
  either('with an empty name', sent(fieldSection(STATUS_200, fieldLine('', 'b')), BODY)),
  either('with connection', sent(fieldSection(STATUS_200, fieldLine('connection', 'close')), BODY)),
  either(
    'with transfer-encoding',
    sent(fieldSection(STATUS_200, fieldLine('transfer-encoding', 'chunked')), BODY),
  ),
  either('with NUL in a value', sent(fieldSection(STATUS_200, fieldLine('x-a', 'b\0c')), BODY)),
  either('with LF in a value', sent(fieldSection(STATUS_200, fieldLine('x-a', 'b\r\nset-cookie: c')), BODY)),
  good('with trailers', HEAD, BODY, fieldSection(fieldLine('x-a', 'b'))),
  either('with a status in its trailers', sent(HEAD, BODY, fieldSection(STATUS_200))),
  either(
    'with a body after its trailers',
    sent(HEAD, BODY, fieldSection(fieldLine('x-a', 'b')), data('evil')),
  ),
  {
    ...bad('204 with a body', fieldSection(fieldLine(':status', '204')), BODY),
    right: ['', null],
    status: 204,
  },
];

const FRAME_CASES: Case<Http3Answer>[] = [
  bad('nothing'),
  bad('a body before its head', BODY, HEAD),
  bad('a head alone that has a length', HEAD),
  bad('ended within its head', HEAD.subarray(0, 9)),
  bad('ended within a frame’s type', HEAD, Buffer.from([0xc0])),
  bad('ended within its body', HEAD, BODY.subarray(0, 60)),
  bad('ended within its body of no length', fieldSection(STATUS_200), BODY.subarray(0, 60)),
  bad('of noise', Buffer.alloc(500, 0xa5)),
  ...[2, 6, 8, 9].map((type) =>
    bad(`with a frame of HTTP/2, ${type}`, HEAD, h3Frame(type, Buffer.alloc(8)), BODY),
  ),
  ...Object.entries({ CANCEL_PUSH, SETTINGS, GOAWAY, MAX_PUSH_ID }).map(([name, type]) =>
    bad(`with ${name} on its stream`, HEAD, h3Frame(type, Buffer.from([0])), BODY),
  ),
  bad(
    'with a promise',
    HEAD,
    h3Frame(PUSH_PROMISE, Buffer.concat([varint(0), NO_DYNAMIC_TABLE, STATUS_200])),
    BODY,
  ),
  good(
    'among unknown frames',
    h3Frame(grease(1), Buffer.from('x')),
    HEAD,
    h3Frame(grease(2 ** 40), PIECE),
    BODY,
    h3Frame(grease(3), Buffer.alloc(0)),
  ),
];

/** Violations of field sections (RFC 9204 section 4.5), then of the encoder's stream (section 4.3). */
const QPACK_CASES: Case<Http3Answer>[] = [
  ...Object.entries({
    'cut within its prefix': Buffer.from([0]),
    'of a static field that is none': Buffer.concat([NO_DYNAMIC_TABLE, indexed(99)]),
    'of a dynamic field that is none': Buffer.concat([NO_DYNAMIC_TABLE, prefixed(0x80, 6, 5)]),
    'of a field after the base that is none': Buffer.concat([NO_DYNAMIC_TABLE, prefixed(0x10, 4, 5)]),
    'of a field that the table cannot hold': Buffer.concat([Buffer.from([200, 0]), STATUS_200]),
    'of a number beyond 62 bits': Buffer.concat([NO_DYNAMIC_TABLE, Buffer.alloc(20, 0xff)]),
    'cut within a value': Buffer.concat([
      NO_DYNAMIC_TABLE,
      STATUS_200,
      fieldLine('x-a', LONG_VALUE).subarray(0, 90),
    ]),
    'of a value that is no Huffman code': Buffer.concat([
      NO_DYNAMIC_TABLE,
      STATUS_200,
      Buffer.from([0x21, 0x61, 0x84, 0xff, 0xff, 0xff, 0xff]),
    ]),
  }).map(([name, section]) => bad(`a head ${name}`, h3Frame(HEADERS, section), BODY)),
  ...Object.entries({
    'a capacity beyond what is allowed': prefixed(0x20, 5, 2 ** 30),
    'a copy of what is not there': prefixed(0, 5, 3),
    'a name that is not there': Buffer.concat([prefixed(0x80, 6, 9), prefixed(0, 7, 1), Buffer.from('b')]),
    'a field beyond its capacity': Buffer.concat([
      prefixed(0x40, 5, 1),
      Buffer.from('a'),
      prefixed(0, 7, 4_000),
      PIECE,
    ]),
  }).map(([name, instruction]) =>
    beside(`beside ${name}`, {
      stream: 'encoder',
      bytes: Buffer.concat([varint(QPACK_ENCODER), instruction]),
    }),
  ),
  beside('beside an acknowledgement of what was not sent', {
    stream: 'decoder',
    bytes: Buffer.concat([varint(QPACK_DECODER), prefixed(0x80, 7, 0)]),
  }),
  beside('beside an increment by nothing', {
    stream: 'decoder',
    bytes: Buffer.concat([varint(QPACK_DECODER), prefixed(0, 6, 0)]),
  }),
];

export const HTTP3_LARGE: Case<Http3Answer>[] = [
  good('with a long field', fieldSection(STATUS_200, LENGTH, fieldLine('x-a', 'b'.repeat(60_000))), BODY),
  { name: '1xx without end', answer: [{ bytes: fieldSection(STATUS_103), times: -1 }], right: [null] },
  {
    name: 'heads without end',
    answer: [{ bytes: Buffer.concat([fieldSection(STATUS_103, fieldLine('x-a', LONG_VALUE))]), times: -1 }],
    right: [null],
  },
  bad(
    'a head of many fields',
    h3Frame(
      HEADERS,
      Buffer.concat([NO_DYNAMIC_TABLE, STATUS_200, Buffer.alloc(2 * MIB, fieldLine('x-a', 'b'))]),
    ),
    BODY,
  ),
  {
    name: 'a head without end',
    answer: [
      { bytes: h3Frame(HEADERS, Buffer.concat([NO_DYNAMIC_TABLE, STATUS_200]), 2n ** 62n - 1n) },
      { bytes: fieldLine('x-a', LONG_VALUE), times: -1 },
    ],
    right: [null],
  },
  {
    name: 'a field without end',
    answer: [
      { bytes: h3Frame(HEADERS, Buffer.concat([NO_DYNAMIC_TABLE, STATUS_200]), 2n ** 62n - 1n) },
      { bytes: Buffer.concat([prefixed(0x20, 3, 3), Buffer.from('x-a'), prefixed(0, 7, 2 ** 40)]) },
      { bytes: PIECE, times: -1 },
    ],
    right: [null],
  },
  {
    name: 'trailers without end',
    answer: [
      {
        bytes: Buffer.concat([
          fieldSection(STATUS_200),
          BODY,
          h3Frame(HEADERS, NO_DYNAMIC_TABLE, 2n ** 62n - 1n),
        ]),
      },
      { bytes: fieldLine('x-a', LONG_VALUE), times: -1 },
    ],
    right: [null],
  },
];

const CUT_BODY = RIGHT.slice(9);
const CUT: Step = {
  bytes: Buffer.concat([fieldSection(STATUS_200), data(CUT_BODY)]),
  pauseMs: ON_ITS_WAY_MS,
  after: 'reset',
};

const END_CASES: Case<Http3Answer>[] = [
  ...Object.entries({ ...CODE, unknown: 0 }).flatMap(([name, code]) => [
    { name: `reset within by ${name}`, answer: afterPart('reset', code), right: [null] },
    { name: `of a connection that ends within by ${name}`, answer: afterPart('close', code), right: [null] },
  ]),
  {
    name: 'of no length, reset within by INTERNAL',
    answer: [{ ...CUT, code: CODE.INTERNAL }],
    right: [null],
  },
  {
    // libcurl 8.14 distinguishes it from an end in its trace only, which would double the cost of each response without a length.
    name: 'of no length, reset within by NO_ERROR',
    answer: [{ ...CUT, code: CODE.NO_ERROR }],
    right: [CUT_BODY, null],
  },
  either('reset after its body', {
    bytes: SOUND,
    pauseMs: ON_ITS_WAY_MS,
    after: 'reset',
    code: CODE.NO_ERROR,
  }),
  {
    name: 'with its request stopped',
    answer: [{ after: 'stop', code: CODE.NO_ERROR }, sent(SOUND)],
    right: [RIGHT],
  },
];

function onControl(...frames: Uint8Array[]): Step {
  return { stream: 'control', bytes: Buffer.concat(frames) };
}

const CONTROL_CASES: Case<Http3Answer>[] = [
  beside('beside a second SETTINGS', onControl(settings())),
  ...Object.entries({ DATA, HEADERS, PUSH_PROMISE, MAX_PUSH_ID, CANCEL_PUSH }).map(([name, type]) =>
    beside(`beside ${name} on the control stream`, onControl(h3Frame(type, Buffer.from([7])))),
  ),
  beside('beside a frame of HTTP/2 on the control stream', onControl(h3Frame(6, Buffer.alloc(8)))),
  beside('beside a GOAWAY at once', onControl(h3Frame(GOAWAY, varint(0)))),
  beside('beside a GOAWAY that grows', onControl(h3Frame(GOAWAY, varint(4)), h3Frame(GOAWAY, varint(400)))),
  beside('beside a GOAWAY for no request', onControl(h3Frame(GOAWAY, varint(3)))),
  beside('beside a GOAWAY cut short', onControl(h3Frame(GOAWAY, Buffer.alloc(0)))),
  beside('beside the end of the control stream', { stream: 'control', after: 'fin' }),
  beside('beside a reset control stream', { stream: 'control', after: 'reset', code: CODE.NO_ERROR }),
  beside('beside a second control stream', {
    stream: 'second',
    bytes: Buffer.concat([varint(CONTROL), settings()]),
  }),
  beside('beside the end of the encoder’s stream', {
    stream: 'encoder',
    bytes: varint(QPACK_ENCODER),
    after: 'fin',
  }),
  beside('beside a push', {
    stream: 'push',
    bytes: Buffer.concat([varint(PUSH), varint(0), SOUND]),
    after: 'fin',
  }),
  opened(
    'of a connection with unknown settings',
    control(settings([grease(1), 7], [grease(9), 2n ** 62n - 1n])),
    [RIGHT],
  ),
  opened(
    'of a connection with unknown frames and streams',
    [
      ...control(settings(), h3Frame(grease(5), PIECE)),
      { stream: 'unknown', bytes: Buffer.concat([varint(grease(7)), PIECE]) },
      { stream: 'ended', bytes: varint(grease(8)), after: 'fin' },
    ],
    [RIGHT],
  ),
  opened('of a connection without a control stream', [], [RIGHT, null]),
  opened('of a connection without SETTINGS', control(h3Frame(GOAWAY, varint(400))), [RIGHT, null]),
  opened('of a connection with a setting of HTTP/2', control(settings([4, 65_535])), [RIGHT, null]),
  opened('of a connection with a setting twice', control(settings([6, 1], [6, 2])), [RIGHT, null]),
  opened('of a connection with a setting cut short', control(h3Frame(SETTINGS, Buffer.from([6]))), [
    RIGHT,
    null,
  ]),
  opened(
    'of a connection with SETTINGS without end',
    [
      {
        stream: 'control',
        bytes: Buffer.concat([varint(CONTROL), h3Frame(SETTINGS, Buffer.alloc(0), 2n ** 62n - 1n)]),
      },
      { stream: 'control', bytes: Buffer.alloc(MIB, varint(grease(1))), times: 1 },
    ],
    [RIGHT, null],
  ),
  opened('of a connection that takes no field', control(settings([6, 0])), [RIGHT, null]),
  opened('of a connection with a huge table', control(settings([1, 2n ** 62n - 1n], [7, 2n ** 62n - 1n])), [
    RIGHT,
  ]),
  opened(
    'of a connection that ends at once',
    [...SOUND_OPENING, { stream: 'control', after: 'close', code: CODE.NO_ERROR }],
    [null],
  ),
];

export const HTTP3_CASES: Case<Http3Answer>[] = [
  WELL,
  ...SECTION_CASES,
  ...FRAME_CASES,
  ...QPACK_CASES,
  ...END_CASES,
  ...CONTROL_CASES,
];

/** Answers that have no end, and nothing wrong in them but that. */
export const HTTP3_FLOODS: [string, Http3Answer][] = Object.entries({
  'empty pieces of a body': { bytes: data('') },
  'unknown frames': { bytes: h3Frame(grease(1), Buffer.alloc(0)) },
  'one unknown frame': { bytes: PIECE },
  'unknown frames on the control stream': onControl(h3Frame(grease(1), Buffer.alloc(0))),
  'the same GOAWAY': onControl(h3Frame(GOAWAY, varint(400))),
  'an unknown stream': { stream: 'unknown', bytes: Buffer.concat([varint(grease(7)), PIECE]) },
  'changes of a table': { stream: 'encoder', bytes: prefixed(0x20, 5, 0) },
}).map(([name, step]: [string, Step]) => [
  name,
  {
    answer: [
      {
        bytes:
          name === 'one unknown frame' ? Buffer.concat([HEAD, h3Frame(grease(1), PIECE, 2 ** 40)]) : HEAD,
      },
      ...(step.stream === 'encoder' ? [{ stream: 'encoder', bytes: varint(QPACK_ENCODER) }] : []),
      {
        ...step,
        bytes: Buffer.concat(Array.from({ length: 1_000 }, () => step.bytes!)).subarray(0, 64 * 1024),
        times: -1,
      },
    ],
  },
]);
