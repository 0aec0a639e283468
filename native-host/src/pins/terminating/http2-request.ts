import {
  constants,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
  type ServerStreamResponseOptions,
} from 'node:http2';
import { type HeaderField, isFieldValue, valuesOf } from '../../exchange/headers.ts';
import { type BrowserRequest, fieldsOf, isBodyless } from './browser-request.ts';
import { StreamedRequest } from './streamed-request.ts';

/** How a stream ends that must not be repeated: after `INTERNAL_ERROR` Firefox 153 sends a request up to nine times more, even a POST. */
const FAILED = constants.NGHTTP2_CANCEL;

/** A request of a browser over HTTP/2. */
export class Http2Request extends StreamedRequest implements BrowserRequest {
  readonly #stream: ServerHttp2Stream;

  /** @param raw header names and values alternately. */
  constructor(stream: ServerHttp2Stream, raw: readonly string[]) {
    const headers: HeaderField[] = [];
    const pseudo = { ':method': '', ':path': '', ':scheme': '', ':authority': '' };
    for (const field of fieldsOf(raw)) {
      const [name, value] = field;
      if (!name.startsWith(':')) headers.push(field);
      else if (name in pseudo) pseudo[name as keyof typeof pseudo] = value;
    }
    // RFC 9113 section 8.3.1: `Host` replaces a missing pseudo-header.
    const named = pseudo[':authority'] || valuesOf(headers, 'host')[0] || '';
    const authority = pseudo[':scheme'] === 'https' ? named : '';
    const head = { method: pseudo[':method'], authority, target: pseudo[':path'], headers };
    super(head, stream.endAfterHeaders ? null : stream, stream);
    this.#stream = stream;
    // The stream closes only once its end has been read.
    if (!this.body) stream.resume();
    if (this.body && this.headers.some(isExpectation)) this.informational(100, []);
  }

  informational(status: number, headers: readonly HeaderField[]): void {
    if (this.#isClosed) return;
    try {
      this.#stream.additionalHeaders(grouped(headers, status));
    } catch {
      // The response is complete without it.
    }
  }

  head(status: number, headers: readonly HeaderField[], first: Buffer | null): boolean {
    if (this.#isClosed) return true;
    const endStream = isBodyless(this.method, status);
    this.#respond(status, headers, { endStream, waitForTrailers: !endStream });
    if (endStream) this.#finish();
    return first ? this.write(first) : true;
  }

  answer(status: number, headers: readonly HeaderField[], body: Buffer | null): void {
    if (this.#isClosed) return;
    const endStream = body === null || isBodyless(this.method, status);
    this.#respond(status, headers, { endStream });
    // Without trailers the last DATA frame carries the end of the stream.
    if (!endStream) this.#stream.end(body);
    this.#finish();
  }

  write(chunk: Buffer): boolean {
    return this.#isClosed || this.#stream.write(chunk);
  }

  end(trailers: readonly HeaderField[]): void {
    const stream = this.#stream;
    if (this.#isClosed) return;
    const fields = grouped(trailers);
    stream.once('wantTrailers', () => {
      try {
        stream.sendTrailers(fields);
      } catch {
        stream.close(FAILED);
      }
    });
    stream.end();
    this.#finish();
  }

  #respond(status: number, headers: readonly HeaderField[], how: ServerStreamResponseOptions): void {
    // `sendDate` is in Node's types for HTTP/1.1 only.
    const options = { ...how, sendDate: false };
    this.#stream.respond(grouped(headers, status), options);
  }

  #finish(): void {
    const stream = this.#stream;
    this.isOver = true;
    if (!this.body) return;
    // RFC 9113 section 8.1: the rest of the upload is not needed.
    stream.once('finish', () => {
      if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
    });
  }

  refuse(): void {
    this.#close(constants.NGHTTP2_REFUSED_STREAM);
  }

  fail(): void {
    this.#close(FAILED);
  }

  get #isClosed(): boolean {
    return this.isOver || this.#stream.destroyed || this.#stream.closed;
  }

  #close(code: number): void {
    if (this.#isClosed) return;
    this.isOver = true;
    this.#stream.close(code);
  }
}

/**
 * Fields in Node's form: all lines of one name at the place of its first one.
 *
 * @throws Error for a value that HTTP/2 does not allow (RFC 9113 section 8.2.1), which Node would send.
 */
function grouped(fields: readonly HeaderField[], status?: number): OutgoingHttpHeaders {
  const byName: OutgoingHttpHeaders = Object.create(null);
  if (status !== undefined) byName[':status'] = status;
  for (const [name, value] of fields) {
    if (!isFieldValue(value)) throw new Error(`an invalid value of ${name}`);
    const key = name.toLowerCase();
    const former = byName[key];
    if (former === undefined) byName[key] = value;
    else if (Array.isArray(former)) former.push(value);
    else byName[key] = [former as string, value];
  }
  return byName;
}

/** RFC 9110 section 10.1.1. */
function isExpectation([name, value]: HeaderField): boolean {
  return name === 'expect' && value.toLowerCase() === '100-continue';
}
