/** Web fonts: real ones (SIL Open Font License), padded to any larger size. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** WOFF2 header: signature and offsets of the sizes that padding changes (W3C WOFF 2.0, section 4.1). */
const WOFF2_SIGNATURE = 0x774f4632;
const LENGTH_AT = 8;
const PRIVATE_OFFSET_AT = 40;
const PRIVATE_LENGTH_AT = 44;

const FONTS = {
  'inter-400': '@fontsource/inter/files/inter-latin-400-normal.woff2',
  'inter-600': '@fontsource/inter/files/inter-latin-600-normal.woff2',
  'inter-700': '@fontsource/inter/files/inter-latin-700-normal.woff2',
  'source-serif-4-400': '@fontsource/source-serif-4/files/source-serif-4-latin-400-normal.woff2',
  'source-serif-4-600': '@fontsource/source-serif-4/files/source-serif-4-latin-600-normal.woff2',
  'source-serif-4-700': '@fontsource/source-serif-4/files/source-serif-4-latin-700-normal.woff2',
  /** The smallest in the package, for fonts where only the size matters. */
  small: '@fontsource/inter/files/inter-vietnamese-400-normal.woff2',
} as const;

export type FontName = keyof typeof FONTS;

/** The WOFF2 file of a font. */
export function readFont(name: FontName): Uint8Array {
  return new Uint8Array(readFileSync(require.resolve(FONTS[name])));
}

/**
 * `font` with a private data block behind it, so that the file has `bytes` bytes; unchanged when
 * it is not smaller than that.
 *
 * @throws {TypeError} when `font` is not WOFF2 or has a private block already.
 */
export function padFont(font: Uint8Array, bytes: number, noise: (count: number) => Uint8Array): Uint8Array {
  const view = new DataView(font.buffer, font.byteOffset, font.byteLength);
  if (view.getUint32(0) !== WOFF2_SIGNATURE) throw new TypeError('not a WOFF2 font');
  if (view.getUint32(PRIVATE_LENGTH_AT) !== 0) throw new TypeError('the font has private data already');
  // The private block begins on a four-byte boundary.
  const start = Math.ceil(font.length / 4) * 4;
  if (bytes <= start) return font;
  const padded = new Uint8Array(bytes);
  padded.set(font);
  padded.set(noise(bytes - start), start);
  const header = new DataView(padded.buffer);
  header.setUint32(LENGTH_AT, bytes);
  header.setUint32(PRIVATE_OFFSET_AT, start);
  header.setUint32(PRIVATE_LENGTH_AT, bytes - start);
  return padded;
}
