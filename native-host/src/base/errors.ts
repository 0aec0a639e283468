import type { ToExtension } from '@hopwise/contract';

/** Unusable input. The message is one line with the place in the input and what was expected. */
export class UsageError extends Error {}

export type RequestErrorCode = Extract<ToExtension, { type: 'error' }>['code'];

/** A pin that is refused, or a probe that failed. The message is one line for the user. */
export class RequestError extends Error {
  readonly code: RequestErrorCode;

  constructor(code: RequestErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
