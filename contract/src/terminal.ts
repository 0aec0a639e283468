/** Text for terminals: tables, wrapped sentences, and names from outside that must not steer the terminal. */
import { eastAsianWidth } from 'get-east-asian-width';

const GAP = '  ';

/** What colours text (ECMA-48 select graphic rendition), as `node:util.styleText` writes it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: An escape sequence begins with one.
const COLOURS = /\u001B\[[\d;]*m/g;

/** Made where it is first needed: it takes as long as a tenth of a command's start. */
let segmenter: Intl.Segmenter | undefined;

function splitGraphemes(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** Columns that a line takes in a terminal: two for East Asian wide characters and emoji, none for colours and combining marks. */
export function displayWidth(text: string): number {
  const plain = text.replace(COLOURS, '');
  if (/^[\u0020-\u007E]*$/.test(plain)) return plain.length;
  let width = 0;
  for (const { segment } of splitGraphemes(plain)) {
    if (/^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]/u.test(segment)) continue;
    const isWide = /\p{Emoji_Presentation}|\uFE0F/u.test(segment);
    width += isWide ? 2 : eastAsianWidth(segment.codePointAt(0)!);
  }
  return width;
}

/**
 * Rows as aligned columns. A column is set to the right where its title in the first row begins with `>`. A row with fewer
 * cells than the first ends in a remark, which takes the rest of the line.
 *
 * @param numbers whether all columns but the first are set to the right
 */
export function table(rows: readonly (readonly string[])[], { numbers = false } = {}): string {
  const [head = [], ...body] = rows;
  const right = head.map((title, column) => title.startsWith('>') || (numbers && column > 0));
  const lines = [head.map((title) => title.replace(/^>/, '')), ...body];
  const isRemark = (line: readonly string[], column: number) =>
    column > 0 && column === line.length - 1 && line.length < head.length;
  const widths = head.map((_, column) =>
    Math.max(...lines.map((line) => (isRemark(line, column) ? 0 : displayWidth(line[column] ?? '')))),
  );
  const aligned = (text: string, column: number) => {
    const space = ' '.repeat(Math.max(0, widths[column]! - displayWidth(text)));
    return right[column] ? space + text : text + space;
  };
  return lines
    .map((line) =>
      line
        .map((text, column) => (isRemark(line, column) ? text : aligned(text, column)))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
}

/** A sentence as lines of at most `width` columns, broken between words. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && displayWidth(line) + 1 + displayWidth(word) > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return line === '' ? lines : [...lines, line];
}

/** Such as `1 page` and `2 pages`. */
export const counted = (value: number, noun: string): string => `${value} ${noun}${value === 1 ? '' : 's'}`;

/** Text that came from a page, a server or a file, without what could steer a terminal, and of at most `most` characters. */
export function printable(text: string, most = 60): string {
  const clean = text.replace(/[\p{Cc}\p{Cf}]/gu, '?');
  return clean.length > most ? `${clean.slice(0, most - 1)}…` : clean;
}

/**
 * Lines of a log of which no CI system takes any for a command, as GitHub Actions does those that begin with `::` or have `##[` in them. As wide
 * as the text.
 */
export function withoutCommands(text: string): string {
  return text.replace(/^([^\S\n]*)::/gm, '$1?:').replaceAll('##[', '?#[');
}

/** JSON of the same value without characters that could steer a terminal, or make a command of its line, see `withoutCommands`. */
export function printableJson(json: string): string {
  return json.replace(/[\u007F-\u009F\u2028\u2029\p{Cf}]|#(?=#\[)/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}
