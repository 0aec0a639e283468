/** Returns the message of a thrown value, which may be no Error. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Returns the first line of a thrown value's message. */
export function firstLine(thrown: unknown): string {
  return messageOf(thrown).split('\n', 1)[0]!;
}
