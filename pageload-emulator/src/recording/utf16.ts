/** Turns UTF-16 into UTF-8 piece by piece. Windows PowerShell 5 writes UTF-16 where output is redirected to a file. */
export class Utf16ToUtf8 {
  readonly #isBigEndian: boolean;
  /** First byte of a code unit whose second one is to come; -1 without one. */
  #first = -1;
  /** First half of a surrogate pair; 0 without one. */
  #high = 0;

  constructor(isBigEndian: boolean) {
    this.#isBigEndian = isBigEndian;
  }

  /** The UTF-8 of the next bytes, as far as they make whole characters; unpaired surrogates become U+FFFD. */
  convert(bytes: Uint8Array): Uint8Array {
    const utf8: number[] = [];
    for (const byte of bytes) {
      if (this.#first < 0) {
        this.#first = byte;
        continue;
      }
      const unit = this.#isBigEndian ? (this.#first << 8) | byte : (byte << 8) | this.#first;
      this.#first = -1;
      this.#addUnit(unit, utf8);
    }
    return Uint8Array.from(utf8);
  }

  #addUnit(unit: number, utf8: number[]): void {
    const high = this.#high;
    this.#high = 0;
    const isLow = unit >= 0xdc00 && unit <= 0xdfff;
    if (high !== 0 && isLow) {
      addCharacter(0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00), utf8);
      return;
    }
    if (high !== 0) addCharacter(REPLACEMENT, utf8);
    if (unit >= 0xd800 && unit <= 0xdbff) this.#high = unit;
    else addCharacter(isLow ? REPLACEMENT : unit, utf8);
  }
}

const REPLACEMENT = 0xfffd;

/** Appends a character's bytes (RFC 3629 section 3). */
function addCharacter(code: number, utf8: number[]): void {
  const tail = (shift: number) => 0x80 | ((code >> shift) & 0x3f);
  if (code < 0x80) utf8.push(code);
  else if (code < 0x800) utf8.push(0xc0 | (code >> 6), tail(0));
  else if (code < 0x10000) utf8.push(0xe0 | (code >> 12), tail(6), tail(0));
  else utf8.push(0xf0 | (code >> 18), tail(12), tail(6), tail(0));
}
