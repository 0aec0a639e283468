/** An error for people to read. The worker loads no language before it has something to say: `describeError` writes the message. */
export class ShownError extends Error {
  readonly write: () => string;

  /** @param write the message in the language that is loaded */
  constructor(write: () => string) {
    super(write());
    this.write = write;
  }
}
