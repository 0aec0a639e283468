/** One HTTP request with streaming in both directions, on the host's side. */
import type { Readable } from 'node:stream';
import type { AddressSpace, Protocol } from '@hopwise/contract';
import type { ExchangeErrorCode, ExchangePhase } from './exchange-fault.ts';
import type { ExchangeFigures } from './exchange-figures.ts';
import type { HeaderField } from './headers.ts';

export interface ExchangeRequest {
  /** The only protocol that may carry it. */
  protocol: Protocol;
  method: string;
  /** An https URL; sent unchanged, not normalised. */
  url: string;
  /**
   * In order. `Host` is taken from the URL, `Content-Length` is the body's length; `Expect` and hop-by-hop fields are
   * left out.
   */
  headers: readonly HeaderField[];
  /** Bytes; null for a request without a body. */
  body: Readable | null;
  /** Address space on whose behalf it is sent, which bounds the addresses that it may reach (`mayReach`); 'public' unless given. */
  from?: AddressSpace;
  /** It shares connections with exchanges of the same partition alone; '' unless given. Without a space. */
  partition?: string;
  /** `host:port:otherHost:otherPort`: where to connect instead of the URL's own. */
  connectTo?: string;
  /**
   * Whether it gets a connection of its own, opened for it and closed after it, which checks the origin's current addresses
   * and certificate.
   */
  freshConnection?: boolean;
  /** Whether its figures are measured. */
  isMeasured?: boolean;
}

export interface ResponseHead {
  protocol: Protocol;
  status: number;
  /** In order, with duplicates, without hop-by-hop fields; values are Latin-1. */
  headers: HeaderField[];
}

export interface Exchange {
  /** Rejects with an `ExchangeError`, as `trailers` does. */
  readonly head: Promise<ResponseHead>;
  /** As received, content codings unchanged. An exchange that fails destroys it with its `ExchangeError`. */
  readonly body: Readable;
  /** Empty when there are none. Settled when the body has been read to its end. */
  readonly trailers: Promise<HeaderField[]>;
  /**
   * Takes the bytes of the body that have arrived, as long as `body` has not been read; null for none. A small response that
   * has arrived completely needs no stream.
   *
   * @throws Error once `body` has been read.
   */
  take(): Buffer | null;
  /** Why it failed; null while it has not. */
  readonly fault: ExchangeError | null;
  /** The trailers of a response that has arrived completely, read or not; null before. */
  readonly arrivedTrailers: readonly HeaderField[] | null;
  /** What it showed of the path, where that was asked for and the response has arrived completely; else null. */
  readonly figures: ExchangeFigures | null;
  /** Called for 1xx responses, in order, before the head. To be set in the same turn. */
  onInformational?: (status: number, headers: HeaderField[]) => void;
  /** Whether a byte of the request may have reached the origin. */
  readonly sent: boolean;
  /** Whether requests wait over QUIC and nothing at all comes back from the origin. */
  readonly isSilent: boolean;
  /** Called when that begins. To be set in the same turn. */
  onSilent?: () => void;
  /** Ends it; `body.destroy()` does the same. No effect after its end. */
  cancel(): void;
}

export class ExchangeError extends Error {
  readonly code: ExchangeErrorCode;
  /** Whether a byte of the request may have reached the origin. */
  readonly sent: boolean;
  /** How far the engine got; null where the failure has another place. */
  readonly phase: ExchangePhase | null;

  constructor(code: ExchangeErrorCode, message: string, sent: boolean, phase: ExchangePhase | null = null) {
    super(message);
    this.code = code;
    this.sent = sent;
    this.phase = phase;
  }
}
