/** Unusable input. The message is one line with the place in the input and what was expected. */
export class UsageError extends Error {}
