/** Bytes of HTTP/3 (RFC 9114), written without regard to what is allowed. */
import { prefixed } from './prefixed-integer.ts';

/** Frame types (RFC 9114 section 7.2). */
export const H3_FRAME = {
  DATA: 0,
  HEADERS: 1,
  CANCEL_PUSH: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  GOAWAY: 7,
  MAX_PUSH_ID: 13,
} as const;

/** Types of unidirectional streams (RFC 9114 section 6.2, RFC 9204 section 4.2). */
export const STREAM_TYPE = { CONTROL: 0, PUSH: 1, QPACK_ENCODER: 2, QPACK_DECODER: 3 } as const;

/** One of the types, settings and codes that stand for nothing (RFC 9114 section 7.2.8). */
export function grease(number: number): number {
  return 0x1f * number + 0x21;
}

/** A variable-length integer of QUIC (RFC 9000 section 16). */
export function varint(value: number | bigint): Buffer {
  if (value < 2 ** 6) return Buffer.from([Number(value)]);
  if (value < 2 ** 14) return ofBits(value, 2, 1n);
  return value < 2 ** 30 ? ofBits(value, 4, 2n) : ofBits(value, 8, 3n);
}

function ofBits(value: number | bigint, bytes: number, tag: bigint): Buffer {
  const all = Buffer.alloc(8);
  all.writeBigUInt64BE(BigInt(value) | (tag << BigInt(bytes * 8 - 2)));
  return all.subarray(8 - bytes);
}

/** @param length said of the payload, where that is not what it has. */
export function h3Frame(type: number, payload: Uint8Array, length: number | bigint = payload.length): Buffer {
  return Buffer.concat([varint(type), varint(length), payload]);
}

export function settings(...pairs: [number, number | bigint][]): Buffer {
  return h3Frame(
    H3_FRAME.SETTINGS,
    Buffer.concat(pairs.flatMap(([id, value]) => [varint(id), varint(value)])),
  );
}

/** A literal field with a literal name, without Huffman coding (RFC 9204 section 4.5.6). */
export function fieldLine(name: string, value: string): Buffer {
  return Buffer.concat([
    prefixed(0x20, 3, name.length),
    Buffer.from(name, 'latin1'),
    prefixed(0, 7, value.length),
    Buffer.from(value, 'latin1'),
  ]);
}

/** An indexed field of the static table (RFC 9204 section 4.5.2). */
export function indexed(index: number): Buffer {
  return prefixed(0xc0, 6, index);
}

/** `:status 200` and `:status 103` of the static table (RFC 9204 appendix A). */
export const STATUS_200 = indexed(25);
export const STATUS_103 = indexed(24);

/** Nothing of the dynamic table is used (RFC 9204 section 4.5.1). */
export const NO_DYNAMIC_TABLE = Buffer.from([0, 0]);

/** A HEADERS frame. */
export function fieldSection(...fields: Buffer[]): Buffer {
  return h3Frame(H3_FRAME.HEADERS, Buffer.concat([NO_DYNAMIC_TABLE, ...fields]));
}
