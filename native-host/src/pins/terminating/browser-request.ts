/** One request of the browser and the way of its response, whatever HTTP version the browser speaks. */
import type { Readable } from 'node:stream';
import type { HeaderField } from '../../exchange/headers.ts';

export interface BrowserRequest {
  readonly method: string;
  /** As the browser named it: `host` or `host:port`; '' where it named none or several. */
  readonly authority: string;
  /** The request target in origin form (RFC 9112 section 3.2.1); anything else as it came. */
  readonly target: string;
  /** In order, with their duplicates, without pseudo-headers; values are Latin-1. */
  readonly headers: readonly HeaderField[];
  /** null for a request without a body. */
  readonly body: Readable | null;
  /** The browser has given the request up, or its connection is gone. Not called after the response's end. */
  onGone: () => void;
  /** More of the response is taken, after a `write` that was false. */
  onDrain: () => void;
  /** A 1xx response. Left out where it cannot be passed on. */
  informational(status: number, headers: readonly HeaderField[]): void;
  /**
   * Begins the response; it goes out at once.
   *
   * @param first body bytes that are here already; null for none.
   * @returns false when `onDrain` is to be waited for.
   * @throws Error for what cannot be sent in the browser's HTTP version.
   */
  head(status: number, headers: readonly HeaderField[], first: Buffer | null): boolean;
  /**
   * A whole response without trailers, in one go: its end is not to cost the browser another look.
   *
   * @throws Error for what cannot be sent in the browser's HTTP version.
   */
  answer(status: number, headers: readonly HeaderField[], body: Buffer | null): void;
  /** @returns false when `onDrain` is to be waited for. */
  write(chunk: Buffer): boolean;
  /** @throws Error for trailers that cannot be sent. */
  end(trailers: readonly HeaderField[]): void;
  /** Before the head: the request was not acted on, or does no harm twice. The browser sends it again elsewhere. */
  refuse(): void;
  /** The request has failed. The browser does not send it again, and takes no part of a response for the whole. */
  fail(): void;
}

/** RFC 9110 sections 9.3.2 and 15.3.5, 15.3.6, 15.4.5: responses without content. */
export function isBodyless(method: string, status: number): boolean {
  return method === 'HEAD' || status === 204 || status === 205 || status === 304;
}

/** A flat array of names and values, as Node has raw headers, as fields. */
export function fieldsOf(raw: readonly string[]): HeaderField[] {
  return Array.from({ length: raw.length / 2 }, (_, index) => [raw[2 * index]!, raw[2 * index + 1]!]);
}
