/** PNG files (ISO/IEC 15948) of an exact size in bytes. */
import { crc32, deflateSync } from 'node:zlib';
import type { Picture } from './artwork.ts';

const SIGNATURE = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const CHUNK_OVERHEAD_BYTES = 12;

function chunk(type: string, data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(CHUNK_OVERHEAD_BYTES + data.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, data.length);
  bytes.set(new TextEncoder().encode(type), 4);
  bytes.set(data, 8);
  view.setUint32(8 + data.length, crc32(bytes.subarray(4, 8 + data.length)));
  return bytes;
}

function concat(parts: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The compressed pixels of an 8-bit RGB PNG. */
function encodePixels({ width, height, rgb }: Picture): Uint8Array {
  const stride = width * 3;
  const rows = new Uint8Array((stride + 1) * height);
  for (let y = 0; y < height; y++) {
    const row = y * (stride + 1);
    // Filter 2 (Up), as the pictures consist of areas with repeating rows.
    rows[row] = 2;
    for (let x = 0; x < stride; x++) {
      const above = y === 0 ? 0 : (rgb[(y - 1) * stride + x] as number);
      rows[row + 1 + x] = (rgb[y * stride + x] as number) - above;
    }
  }
  return deflateSync(rows, { level: 9 });
}

/** @param pixels from `encodePixels` */
function assemblePng({ width, height }: Picture, pixels: Uint8Array, padding?: Uint8Array): Uint8Array {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header[8] = 8;
  header[9] = 2;
  return concat([
    SIGNATURE,
    chunk('IHDR', header),
    // Ancillary, private, safe to copy: decoders skip it. Before the pixels, so that the picture
    // is complete only when its last byte is.
    ...(padding ? [chunk('hwPd', padding)] : []),
    chunk('IDAT', pixels),
    chunk('IEND', new Uint8Array(0)),
  ]);
}

/**
 * `draw`'s picture as a PNG of exactly `bytes` bytes: padded with `noise`, or drawn at half the
 * width and height until it fits.
 *
 * @throws {RangeError} when not even the smallest drawing fits.
 */
export function pngOfSize(
  draw: (width: number, height: number) => Picture,
  width: number,
  height: number,
  bytes: number,
  noise: (count: number) => Uint8Array,
): Uint8Array {
  for (let scale = 1; ; scale *= 2) {
    const w = Math.max(1, Math.round(width / scale));
    const h = Math.max(1, Math.round(height / scale));
    const picture = draw(w, h);
    const pixels = encodePixels(picture);
    const plain = assemblePng(picture, pixels);
    if (plain.length === bytes) return plain;
    const padding = bytes - plain.length - CHUNK_OVERHEAD_BYTES;
    if (padding >= 0) return assemblePng(picture, pixels, noise(padding));
    if (w === 1 && h === 1) throw new RangeError(`no PNG of ${bytes} bytes: at least ${MIN_PNG_BYTES}`);
  }
}

/** A size for which `pngOfSize` always succeeds. */
export const MIN_PNG_BYTES = 128;
