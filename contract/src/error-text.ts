/** Returns the message of a thrown value, which may be no Error. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The most characters of a text that a message about it quotes. */
const MAX_QUOTED = 60;

/**
 * Says in plain words where a text stops being JSON, as the end of "expected JSON, got …".
 *
 * @param thrown by JSON.parse
 * @param at index of that place, to quote the text there rather than to name a line: for a text whose lines are not those of a file
 */
export function jsonFault(text: string, thrown: unknown, at?: number): string {
  if (text.trim() === '') return 'an empty text';
  // V8 and SpiderMonkey quote the input, which may contain any characters.
  const message = visible(messageOf(thrown));
  const [, position] = / at position (\d+)/.exec(message) ?? [];
  const [, line, column] = /line (\d+) column (\d+)/.exec(message) ?? [];
  const isCut = /^unexpected end|: end of data|^unterminated/i.test(message);
  if (isCut || (position !== undefined && Number(position) >= text.trimEnd().length)) {
    return 'a text that ends too early';
  }
  if (line !== undefined && at === undefined) return `other text in line ${line}, column ${column}`;
  const [, around = visible(text.slice(at, (at ?? 0) + MAX_QUOTED + 1))] =
    /^Unexpected token .*?, (?:\.\.\.)?"(.*)"(?:\.\.\.)? is not valid JSON$/.exec(message) ?? [];
  if (around.includes('\ufffd')) return 'bytes that are no text';
  const quoted = around.length > MAX_QUOTED ? `${around.slice(0, MAX_QUOTED - 1)}…` : around;
  return `other text at ${JSON.stringify(quoted.trim())}`;
}

/** The text with a blank for what is not seen, or changes how other text is seen. */
function visible(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ');
}

/** Returns the first line of a thrown value's message. */
export function firstLine(thrown: unknown): string {
  return messageOf(thrown).split('\n', 1)[0]!;
}
