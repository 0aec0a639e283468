/** One request of the browser and its response, independent of the browser's HTTP version. */
import type { Readable } from 'node:stream';
import type { HeaderField } from '../../exchange/headers.ts';

export interface BrowserRequest {
  readonly method: string;
  /** As the browser sent it: `host` or `host:port`; '' for none or several. */
  readonly authority: string;
  /** The request target in origin form (RFC 9112 section 3.2.1); other forms unchanged. */
  readonly target: string;
  /** In order, with duplicates, without pseudo-headers; values are Latin-1. */
  readonly headers: readonly HeaderField[];
  /** null for a request without a body. */
  readonly body: Readable | null;
  /** Called when the browser cancels the request or its connection ends before the response's end. */
  onGone: () => void;
  /** Called when more of the response is accepted, after a `write` that returned false. */
  onDrain: () => void;
  /** Forwards a 1xx response, if the browser's HTTP version allows it. */
  informational(status: number, headers: readonly HeaderField[]): void;
  /**
   * Begins the response; it is sent at once.
   *
   * @param first body bytes that have arrived already; null for none.
   * @returns false when the caller has to wait for `onDrain`.
   * @throws Error for what cannot be sent in the browser's HTTP version.
   */
  head(status: number, headers: readonly HeaderField[], first: Buffer | null): boolean;
  /**
   * Sends a complete response without trailers in one write, which saves the browser a wake-up for its end.
   *
   * @throws Error for what cannot be sent in the browser's HTTP version.
   */
  answer(status: number, headers: readonly HeaderField[], body: Buffer | null): void;
  /** @returns false when the caller has to wait for `onDrain`. */
  write(chunk: Buffer): boolean;
  /** @throws Error for trailers that cannot be sent. */
  end(trailers: readonly HeaderField[]): void;
  /** Before the head: makes the browser repeat the request elsewhere, as it was not processed or is idempotent. */
  refuse(): void;
  /** Fails the request: the browser does not repeat it, and does not take a partial response for a complete one. */
  fail(): void;
}

/** RFC 9110 sections 9.3.2 and 15.3.5, 15.3.6, 15.4.5: responses without content. */
export function isBodyless(method: string, status: number): boolean {
  return method === 'HEAD' || status === 204 || status === 205 || status === 304;
}

/** Fields of a flat array of names and values, such as Node's `rawHeaders`. */
export function fieldsOf(raw: readonly string[]): HeaderField[] {
  return Array.from({ length: raw.length / 2 }, (_, index) => [raw[2 * index]!, raw[2 * index + 1]!]);
}
