/** A page's own words on their way to the terminal: without control characters, and not without end. */
export const printable = (line: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be printed
  line.replace(/[\u0000-\u001f\u007f-\u009f]/g, '?').slice(0, 300);
