import type { IncomingMessage, ServerResponse } from 'node:http';
import { type HeaderField, valuesOf } from '../../exchange/headers.ts';
import { type BrowserRequest, fieldsOf, isBodyless } from './browser-request.ts';
import { StreamedRequest } from './streamed-request.ts';

const NOTHING = Buffer.alloc(0);

/**
 * Fails a request without a response so that the browser does not repeat it. Browsers repeat any request, even a POST, when a
 * reused connection ends without a byte; no browser repeats it after a response with two lengths (RFC 9112 section 6.3).
 */
const NO_RESPONSE = [
  'HTTP/1.1 502 Bad Gateway',
  'Connection: close',
  'Content-Length: 1',
  'Content-Length: 2',
  '\r\n',
].join('\r\n');

/** A request of a browser over HTTP/1.1. */
export class Http1Request extends StreamedRequest implements BrowserRequest {
  readonly #response: ServerResponse;

  constructor(request: IncomingMessage, response: ServerResponse) {
    const headers = fieldsOf(request.rawHeaders);
    const hosts = valuesOf(headers, 'host');
    // RFC 9112 section 3.2.2: the absolute form includes the authority.
    const [, absolute, rest] = /^https:\/\/([^/?#]*)(.*)$/i.exec(request.url ?? '') ?? [];
    const authority = absolute ?? (hosts.length === 1 ? hosts[0]! : '');
    const target = absolute === undefined ? (request.url ?? '') : rest || '/';
    const length = valuesOf(headers, 'content-length')[0];
    const hasBody = valuesOf(headers, 'transfer-encoding').length > 0 || Number(length ?? 0) > 0;
    super({ method: request.method ?? '', authority, target, headers }, hasBody ? request : null, response);
    this.#response = response;
    response.sendDate = false;
    request.on('error', () => {});
  }

  informational(status: number, headers: readonly HeaderField[]): void {
    if (status !== 103 || this.#isClosed) return;
    try {
      this.#response.writeEarlyHints({ link: valuesOf(headers, 'link') });
    } catch {
      // The response is complete without it.
    }
  }

  head(status: number, headers: readonly HeaderField[], first: Buffer | null): boolean {
    if (this.#isClosed) return true;
    this.#writeHead(status, headers);
    // With bytes Node writes the head as Latin-1.
    return this.#response.write(first ?? NOTHING);
  }

  answer(status: number, headers: readonly HeaderField[], body: Buffer | null): void {
    if (this.#isClosed) return;
    this.#writeHead(status, headers);
    this.isOver = true;
    this.#response.end(body ?? NOTHING);
  }

  #writeHead(status: number, headers: readonly HeaderField[]): void {
    // Only chunked bodies can have trailers (RFC 9112 section 7.1.2).
    const isChunked = !isBodyless(this.method, status) && valuesOf(headers, 'content-length').length === 0;
    const fields = isChunked ? headers : headers.filter(([name]) => name.toLowerCase() !== 'trailer');
    this.#response.writeHead(status, fields.flat());
  }

  write(chunk: Buffer): boolean {
    return this.#isClosed || this.#response.write(chunk);
  }

  end(trailers: readonly HeaderField[]): void {
    if (this.#isClosed) return;
    this.#response.addTrailers(trailers.map(([name, value]): [string, string] => [name, value]));
    this.isOver = true;
    this.#response.end();
  }

  /**
   * RFC 9110 section 15.5.20: whatever the method, the client may repeat the request over another connection. Chromium does, while
   * it repeats a request after an end without a response only if the connection had been used before.
   */
  refuse(): void {
    if (this.#isClosed) return;
    this.isOver = true;
    this.#response.writeHead(421, ['content-length', '0', 'connection', 'close']).end();
  }

  fail(): void {
    if (this.#isClosed) return;
    this.isOver = true;
    const { socket, headersSent } = this.#response;
    if (headersSent || !socket) this.#response.destroy();
    else socket.end(NO_RESPONSE, () => socket.destroy());
  }

  get #isClosed(): boolean {
    return this.isOver || this.#response.destroyed;
  }
}
