/** Rows as aligned columns; a column is set to the right when it begins with `>` in the head. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const right = head.map((title) => title.startsWith('>'));
  const lines = [head.map((title) => title.replace(/^>/, '')), ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      widths
        .map((width, column) => {
          const text = line[column] ?? '';
          return right[column] ? text.padStart(width) : text.padEnd(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Text that came from a page or file, without what could steer a terminal, and not too long. */
export function printable(text: string, most = 60): string {
  const clean = text.replace(/[\p{Cc}\p{Cf}]/gu, '?');
  return clean.length > most ? `${clean.slice(0, most - 1)}…` : clean;
}
