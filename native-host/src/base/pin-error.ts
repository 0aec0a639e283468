import type { ToExtension } from '@hopwise/contract';

export type PinErrorCode = Extract<ToExtension, { type: 'error' }>['code'];

/** A pin that is refused. The message is one line for the user. */
export class PinError extends Error {
  readonly code: PinErrorCode;

  constructor(code: PinErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
