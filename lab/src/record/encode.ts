/** Compresses recorded bodies again, as the browser hands them out decoded. */
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';

type Compress = (body: Uint8Array, level: number) => Promise<Uint8Array>;

const { constants } = zlib;
const gzip = promisify(zlib.gzip) as (body: Uint8Array, options: zlib.ZlibOptions) => Promise<Uint8Array>;
const deflate = promisify(zlib.deflate) as typeof gzip;
const brotli = promisify(zlib.brotliCompress) as (
  body: Uint8Array,
  options: zlib.BrotliOptions,
) => Promise<Uint8Array>;

/** Larger bodies skip the best levels of Brotli and Zstandard, which take seconds for each megabyte. */
const SLOW_ABOVE_BYTES = 1_000_000;

interface Coding {
  /** In order of falling size. */
  levels: number[];
  /** The last level used for large bodies. */
  lastForLarge: number;
  compress: Compress;
}

const CODINGS: Record<string, Coding> = {
  gzip: { levels: range(1, 9), lastForLarge: 9, compress: (body, level) => gzip(body, { level }) },
  deflate: { levels: range(1, 9), lastForLarge: 9, compress: (body, level) => deflate(body, { level }) },
  br: {
    levels: range(0, 11),
    lastForLarge: 9,
    compress: (body, level) =>
      brotli(body, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: level,
          [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
        },
      }),
  },
};
// Node 20 has no Zstandard.
if (zlib.zstdCompress) {
  const zstd = promisify(zlib.zstdCompress) as (
    body: Uint8Array,
    options: zlib.ZstdOptions,
  ) => Promise<Uint8Array>;
  CODINGS.zstd = {
    levels: range(1, 19),
    lastForLarge: 12,
    compress: (body, level) => zstd(body, { params: { [constants.ZSTD_c_compressionLevel]: level } }),
  };
}

interface EncodedBody {
  body: Uint8Array;
  /** Coding of `body` for `Content-Encoding`; null for none. */
  coding: string | null;
}

/**
 * `decoded` in the recorded coding, at the level whose size is nearest to `wantedBytes`. A coding that is unavailable
 * (Zstandard under Node 20) becomes Brotli; stacked codings become none.
 */
export async function encodeAs(
  decoded: Uint8Array,
  coding: string | undefined,
  wantedBytes: number | null,
): Promise<EncodedBody> {
  const name = coding?.trim().toLowerCase();
  if (!name || name === 'identity') return { body: decoded, coding: null };
  const known = name === 'x-gzip' ? 'gzip' : name === 'zstd' && !CODINGS.zstd ? 'br' : name;
  const own = Object.hasOwn(CODINGS, known) ? CODINGS[known] : undefined;
  if (!own) return { body: decoded, coding: null };
  const isLarge = decoded.length > SLOW_ABOVE_BYTES;
  const levels = isLarge ? own.levels.filter((level) => level <= own.lastForLarge) : own.levels;
  // Binary search, as the size nearly always falls with the level.
  let low = 0;
  let high = levels.length - 1;
  let best: Uint8Array | undefined;
  const distance = (body: Uint8Array) => Math.abs(body.length - (wantedBytes ?? 0));
  while (low <= high) {
    const middle = (low + high) >> 1;
    const body = await own.compress(decoded, levels[middle] as number);
    if (!best || distance(body) < distance(best)) best = body;
    if (wantedBytes === null || body.length === wantedBytes) break;
    if (body.length > wantedBytes) low = middle + 1;
    else high = middle - 1;
  }
  return { body: best as Uint8Array, coding: known };
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}
