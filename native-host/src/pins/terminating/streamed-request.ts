import type { Readable, Writable } from 'node:stream';
import type { BrowserRequest } from './browser-request.ts';

type Head = Pick<BrowserRequest, 'method' | 'authority' | 'target' | 'headers'>;

/** What a browser's requests over HTTP/1.1 and HTTP/2 have in common: their head, and a stream that takes the response. */
export abstract class StreamedRequest {
  readonly method: string;
  readonly authority: string;
  readonly target: string;
  readonly headers: BrowserRequest['headers'];
  readonly body: Readable | null;
  onGone: () => void = () => {};
  onDrain: () => void = () => {};
  /** Whether nothing more is to be sent: the response is complete, was refused, or its request was cancelled. */
  protected isOver = false;

  protected constructor(
    { method, authority, target, headers }: Head,
    body: Readable | null,
    response: Writable,
  ) {
    this.method = method;
    this.authority = authority;
    this.target = target;
    this.headers = headers;
    this.body = body;
    response
      // A response that is cut off emits an error; `close` follows every end.
      .on('error', () => {})
      .on('drain', () => this.onDrain())
      .on('close', () => {
        if (!this.isOver) this.onGone();
        this.isOver = true;
      });
  }
}
