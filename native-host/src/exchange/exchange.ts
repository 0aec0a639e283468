/** One HTTP request with streaming in both directions, as the host sees it. */
import type { Readable } from 'node:stream';
import type { Protocol } from '@hopwise/contract';
import type { ExchangeErrorCode } from './exchange-fault.ts';
import type { HeaderField } from './headers.ts';

export interface ExchangeRequest {
  /** Carries it, or nothing does. */
  protocol: Protocol;
  method: string;
  /** An https URL; sent as it is, not normalised. */
  url: string;
  /**
   * In order. `Host` is taken from the URL, `Content-Length` is the body's length, `Expect` and what
   * is of one connection only are left out.
   */
  headers: readonly HeaderField[];
  /** Bytes; null for a request without a body. */
  body: Readable | null;
  /** `host:port:otherHost:otherPort`: where to connect instead of the URL's own. */
  connectTo?: string;
  /**
   * Whether it has a connection made for it and ended with it, which shows what there is now of the way to the origin, its
   * addresses and its certificate.
   */
  freshConnection?: boolean;
}

export interface ResponseHead {
  protocol: Protocol;
  status: number;
  /** In order, with their duplicates, without what is of one connection only; values are Latin-1. */
  headers: HeaderField[];
}

export interface Exchange {
  /** Rejects with an `ExchangeError`, as `trailers` does. */
  readonly head: Promise<ResponseHead>;
  /** As it came, encodings untouched. An exchange that fails destroys it with its `ExchangeError`. */
  readonly body: Readable;
  /** Empty when there are none. Settled when the body has been read to its end. */
  readonly trailers: Promise<HeaderField[]>;
  /**
   * Takes what is here of the body, before its stream has been asked for; null for nothing. A small response that has come whole
   * does without one.
   */
  take(): Buffer | null;
  /** Why it failed; null as long as it has not. */
  readonly fault: ExchangeError | null;
  /** The trailers of a response all of which is here, whether read or not; null while more is to come. */
  readonly whole: readonly HeaderField[] | null;
  /** 1xx responses, in order, before the head. To be set at once. */
  onInformational?: (status: number, headers: HeaderField[]) => void;
  /** Whether a byte of the request may have reached the origin. */
  readonly sent: boolean;
  /** Ends it; `body.destroy()` does the same. Nothing happens after its end. */
  cancel(): void;
}

export class ExchangeError extends Error {
  readonly code: ExchangeErrorCode;
  /** Whether a byte of the request may have reached the origin. */
  readonly sent: boolean;

  constructor(code: ExchangeErrorCode, message: string, sent: boolean) {
    super(message);
    this.code = code;
    this.sent = sent;
  }
}
