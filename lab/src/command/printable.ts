/** Text of a page, made safe for the terminal: control characters removed, length bounded. */
export const printable = (line: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be printed
  line.replace(/[\u0000-\u001f\u007f-\u009f]/g, '?').slice(0, 300);
