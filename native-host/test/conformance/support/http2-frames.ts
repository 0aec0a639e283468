/** Bytes of HTTP/2, written without regard to what is allowed. */
import { prefixed } from './prefixed-integer.ts';

export const FRAME_HEADER_BYTES = 9;

/** Frame types (RFC 9113 section 6). */
export const H2_FRAME = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const;
export const FLAG = { ACK: 1, END_STREAM: 1, END_HEADERS: 4, PADDED: 8 } as const;

/** The payload of frames that nothing says may be larger (RFC 9113 section 4.2). */
export const FRAME_BYTES = 16 * 1024;

/** `:status 200` of the static table (RFC 7541 appendix A). */
export const STATUS_200 = Buffer.from([0x88]);

/** The stream that frames of an answer name where they mean that of the request. */
export const ITS_STREAM = 0x7fff_fffe;

/** A frame of HTTP/2 (RFC 9113 section 4.1). */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = type;
  header[4] = flags;
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}

/** A literal field of HPACK without Huffman coding; indexed where `first` is 64 (RFC 7541 section 6.2). */
export function field(name: string, value: string, first = 0): Buffer {
  return Buffer.concat([
    Buffer.from([first]),
    prefixed(0, 7, name.length),
    Buffer.from(name, 'latin1'),
    prefixed(0, 7, value.length),
    Buffer.from(value, 'latin1'),
  ]);
}

export function head(...fields: Buffer[]): Buffer {
  return frame(H2_FRAME.HEADERS, FLAG.END_HEADERS, ITS_STREAM, Buffer.concat([STATUS_200, ...fields]));
}

export function data(body: string, flags: number = FLAG.END_STREAM): Buffer {
  return frame(H2_FRAME.DATA, flags, ITS_STREAM, Buffer.from(body, 'latin1'));
}

export function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function setting(id: number, value: number): Buffer {
  return Buffer.concat([number(id).subarray(2), number(value)]);
}
