/** ASCII's letters differ in this bit only by case. */
const LOWER_CASE = 0x20;

/** Finds words of ASCII in bytes, whatever their case, without decoding these. */
export class AsciiWords<T> {
  readonly #byLength: { word: Uint8Array; meaning: T }[][] = [];

  /** @param meanings what each word stands for */
  constructor(meanings: Iterable<readonly [word: string, meaning: T]>) {
    for (const [text, meaning] of meanings) {
      const word = Uint8Array.from(text, (letter) => letter.charCodeAt(0) | LOWER_CASE);
      this.#byLength[word.length] ??= [];
      this.#byLength[word.length]!.push({ word, meaning });
    }
  }

  /** What the word stands for that the bytes from `from` to before `end` are; undefined for any other. */
  find(bytes: Uint8Array, from: number, end: number): T | undefined {
    const words = this.#byLength[end - from];
    if (words === undefined) return undefined;
    for (const { word, meaning } of words) if (isAt(bytes, from, word)) return meaning;
    return undefined;
  }
}

function isAt(bytes: Uint8Array, from: number, word: Uint8Array): boolean {
  for (let at = 0; at < word.length; at++) {
    if ((bytes[from + at]! | LOWER_CASE) !== word[at]) return false;
  }
  return true;
}
