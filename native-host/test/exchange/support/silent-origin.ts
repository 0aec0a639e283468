/** An origin over HTTP/1.1 and HTTP/2 whose connections can go without a word. */
import { createSecureServer, type Http2SecureServer, type Http2ServerRequest } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalLeafIssuer } from '../../../src/ca/leaf-issuer.ts';
import { deafen } from '../../support/deaf-socket.ts';

/** By then the kernel has acknowledged what came last: 40 ms, and the time of a busy machine. */
const ACKNOWLEDGED_MS = 100;

/** What has come over the network: `method path`. */
export class SilentOrigin {
  readonly seen: string[] = [];
  readonly #server: Http2SecureServer;
  readonly #sockets = new Set<Socket>();
  #hasVanished = false;

  private constructor(server: Http2SecureServer) {
    this.#server = server;
    // The end of a connection of HTTP/1.1 would be heard, as what goes out is not dropped.
    Object.assign(server, { keepAliveTimeout: 0 });
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket)).on('error', () => {});
    });
    server.on('request', (request, response) => {
      this.seen.push(`${request.method} ${request.url}`);
      // What a connection that is lost leaves behind.
      request.on('error', () => {});
      response.on('error', () => {});
      void this.#answer(request).then((bytes) => response.end(bytes));
      if (request.url.startsWith('/half')) response.write('half of it');
    });
  }

  static async start(issuer: LocalLeafIssuer): Promise<SilentOrigin> {
    const origin = new SilentOrigin(
      createSecureServer({
        allowHTTP1: true,
        SNICallback: (name, done) => done(null, issuer.contextFor(name) ?? undefined),
      }),
    );
    await new Promise<void>((resolve) => origin.#server.listen(0, '127.0.0.1', resolve));
    return origin;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  url(path: string): string {
    return `https://localhost:${this.port}${path}`;
  }

  /** The connections that are there acknowledge nothing any more, nor is anything sent on them; those to come are sound, and quick. */
  async vanish(): Promise<void> {
    await sleep(ACKNOWLEDGED_MS);
    this.#hasVanished = true;
    for (const socket of this.#sockets) deafen(socket);
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  /** The length of what was uploaded, which is read only after the number of milliseconds in the path, if there is one. */
  async #answer(request: Http2ServerRequest): Promise<string> {
    const waitMs = Number(/\d+/.exec(request.url)?.[0] ?? 0);
    if (waitMs > 0 && !this.#hasVanished) await sleep(waitMs);
    let bytes = 0;
    for await (const piece of request) bytes += (piece as Buffer).length;
    return String(bytes);
  }
}
