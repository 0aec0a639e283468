/** Text as one line of at most so many characters, without anything that a terminal acts on. */
export function oneLine(text: string, maxLength: number): string {
  return text.replace(/\p{Cc}+/gu, ' ').slice(0, maxLength);
}
