import { stripVTControlCharacters } from 'node:util';

/**
 * Columns as wide as their widest cell, all left-aligned.
 *
 * @param numbers whether all columns but the first are right-aligned
 */
export function table(rows: readonly (readonly string[])[], { numbers = false, gap = 3 } = {}): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, text] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, stripVTControlCharacters(text).length);
    }
  }
  const aligned = (text: string, column: number) => {
    const space = ' '.repeat((widths[column] ?? 0) - stripVTControlCharacters(text).length);
    return numbers && column > 0 ? space + text : text + space;
  };
  return rows.map((row) => row.map(aligned).join(' '.repeat(gap)).trimEnd()).join('\n');
}

/** Wraps a sentence between words. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return line === '' ? lines : [...lines, line];
}
