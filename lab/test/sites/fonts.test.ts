import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../src/random.ts';
import { padFont, readFont } from '../../src/sites/fonts.ts';

describe('padFont', () => {
  const noise = (count: number) => new SeededRandom(1).bytes(count);

  it('sets its length and the offset of the padding', () => {
    const font = readFont('small');
    const padded = Buffer.from(padFont(font, 9000, noise));
    expect(padded).toHaveLength(9000);
    expect(padded.readUInt32BE(8)).toBe(9000);
    expect(padded.readUInt32BE(40) + padded.readUInt32BE(44)).toBe(9000);
    expect(padded.readUInt32BE(40) % 4).toBe(0);
  });

  it('returns a font that is large enough unchanged', () => {
    const font = readFont('small');
    expect(padFont(font, 10, noise)).toEqual(font);
  });

  it('refuses data that is not WOFF2', () => {
    expect(() => padFont(new Uint8Array(64), 100, noise)).toThrow(/not a WOFF2 font/);
  });
});
