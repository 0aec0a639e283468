/** Text as one line of at most `maxLength` characters, without control characters. */
export function oneLine(text: string, maxLength = Infinity): string {
  return text.replace(/\p{Cc}+/gu, ' ').slice(0, maxLength);
}

/** Unusable input as error messages quote it. */
export function quoteInput(text: string): string {
  return `"${text.replace(/\p{Cc}/gu, '?').slice(0, 200)}"`;
}
