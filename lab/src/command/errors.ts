/** An error that the user can fix: printed as one line, without a stack. */
export class UserError extends Error {
  override readonly name = 'UserError';
  /** 2 for input that cannot be used, 1 for a part that is missing or failed. */
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
