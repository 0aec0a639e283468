import type { ToExtension } from '@hopwise/contract';

export type ProbeErrorCode = Extract<ToExtension, { type: 'error' }>['code'];

/** A probe that failed. The message is one line for the user. */
export class ProbeError extends Error {
  readonly code: ProbeErrorCode;

  constructor(code: ProbeErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
