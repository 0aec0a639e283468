/** Text as one line of at most `maxLength` characters, without control characters. */
export function oneLine(text: string, maxLength: number): string {
  return text.replace(/\p{Cc}+/gu, ' ').slice(0, maxLength);
}
