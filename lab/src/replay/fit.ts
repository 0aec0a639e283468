/** Brings generated text to the recorded size on the wire. */
import { gzipSync } from 'node:zlib';
import type { SeededRandom } from '../random.ts';

/** A piece of text and its desired position in the whole, 0 to 1. */
export interface Piece {
  place: number;
  text: string;
}

interface Fitted {
  body: Uint8Array;
  encoding: 'gzip' | null;
}

/** Comment syntax of a language. */
interface Comment {
  open: string;
  close: string;
}

export const HTML_COMMENT: Comment = { open: '<!--', close: '-->' };
export const C_COMMENT: Comment = { open: '/*', close: '*/' };

/** 64 letters, so that the six lower bits of a byte select them uniformly. */
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$';
/** Compression ratio of random LETTERS: 6 of 8 bits, plus some overhead. */
const NOISE_RATIO = 0.765;
const GZIP_HEADER_BYTES = 10;
/** FLG.FEXTRA (RFC 1952, section 2.3.1). */
const FEXTRA = 4;
const MAX_EXTRA_BYTES = 65_535;

/**
 * `pieces` in order, padded with noise comments to `bytes` bytes: plain where they fit, else compressed, as most recorded text
 * was. Longer when even that does not fit.
 */
export function fit(pieces: Piece[], bytes: number, comment: Comment, random: SeededRandom): Fitted {
  const plain = Buffer.from(assemble(pieces, bytes, comment, random));
  if (plain.length <= bytes) return { body: exactly(plain, bytes), encoding: null };
  const bare = Buffer.from(pieces.map(({ text }) => text).join(''));
  const room = bytes - gzipSync(bare).length;
  const padded = room > 0 ? assemble(pieces, bare.length + room / NOISE_RATIO, comment, random) : bare;
  let packed = gzipSync(Buffer.from(padded));
  if (packed.length > bytes && room > 0) packed = gzipSync(bare);
  return { body: withExtra(packed, bytes), encoding: 'gzip' };
}

function assemble(pieces: Piece[], bytes: number, comment: Comment, random: SeededRandom): string {
  const parts: string[] = [];
  let left = pieces.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  let at = 0;
  const pad = (until: number) => {
    const gap = Math.floor(until) - at - comment.open.length - comment.close.length;
    if (gap < 0) return;
    const noise = Buffer.from(random.bytes(gap).map((byte) => LETTERS.charCodeAt(byte % 64))).toString(
      'latin1',
    );
    parts.push(comment.open, noise, comment.close);
    at = Math.floor(until);
  };
  for (const { place, text } of pieces) {
    // The remaining pieces must fit after it.
    pad(Math.min(place * bytes, bytes - left));
    parts.push(text);
    at += Buffer.byteLength(text);
    left -= Buffer.byteLength(text);
  }
  pad(bytes);
  return parts.join('');
}

/** Spaces, where the remaining room is too small for a comment. */
function exactly(text: Uint8Array, bytes: number): Uint8Array {
  const body = new Uint8Array(bytes).fill(0x20);
  body.set(text);
  return body;
}

/** Lengthens a gzip member by its header's extra field, up to `bytes`. */
function withExtra(member: Uint8Array, bytes: number): Uint8Array {
  const extra = Math.min(bytes - member.length - 2, MAX_EXTRA_BYTES);
  if (extra < 0) return member;
  const body = new Uint8Array(member.length + 2 + extra);
  body.set(member.subarray(0, GZIP_HEADER_BYTES));
  body[3] = (body[3] as number) | FEXTRA;
  new DataView(body.buffer).setUint16(GZIP_HEADER_BYTES, extra, true);
  body.set(member.subarray(GZIP_HEADER_BYTES), GZIP_HEADER_BYTES + 2 + extra);
  return body;
}
