/** Input that cannot be used: one line that says what, where and what was expected. */
export class UsageError extends Error {}
