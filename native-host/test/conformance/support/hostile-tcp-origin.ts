/** Origins that answer with whatever bytes a test gives them, over TLS. */

import type { AddressInfo } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { LeafIssuer } from '../../../src/ca/leaf-issuer.ts';
import type { HostileOrigin } from './hostile-browser.ts';
import { FRAME_HEADER_BYTES, frame, H2_FRAME, ITS_STREAM } from './http2-frames.ts';

/** What becomes of a connection after its answer. */
export type After = 'keep' | 'end' | 'reset';

export interface Bytes {
  pieces: Uint8Array[];
  after: After;
  /** Sent again and again until the connection ends. */
  endless?: Uint8Array;
}

const HEAD_END = '\r\n\r\n';
const PREFACE_BYTES = 24;

/** Over HTTP/1.1 the helper's own looks are always answered well. */
export class HostileTcpOrigin implements HostileOrigin<Bytes> {
  #shown: Bytes | null = null;
  readonly #server: Server;
  readonly #sockets = new Set<TLSSocket>();

  private constructor(issuer: LeafIssuer, protocol: 'h1' | 'h2') {
    this.#server = createServer(
      {
        ALPNProtocols: [protocol === 'h1' ? 'http/1.1' : 'h2'],
        SNICallback: (name, done) => done(null, issuer.contextFor(name) ?? undefined),
      },
      (socket) => {
        this.#sockets.add(socket);
        socket.on('error', () => {}).once('close', () => this.#sockets.delete(socket));
        if (protocol === 'h1') this.#onHttp1(socket);
        else this.#onHttp2(socket);
      },
    ).on('tlsClientError', () => {});
  }

  static async listen(issuer: LeafIssuer, protocol: 'h1' | 'h2'): Promise<HostileTcpOrigin> {
    const origin = new HostileTcpOrigin(issuer, protocol);
    await new Promise<void>((resolve) => origin.#server.listen(0, '127.0.0.1', resolve));
    return origin;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  show(shown: Bytes | null): void {
    this.#shown = shown;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #onHttp1(socket: TLSSocket): void {
    let head = '';
    socket.on('data', (chunk) => {
      head += chunk.toString('latin1');
      const end = head.indexOf(HEAD_END);
      if (end < 0) return;
      const isCheck = head.startsWith('HEAD / ');
      head = head.slice(end + HEAD_END.length);
      if (isCheck || !this.#shown) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      else send(socket, this.#shown);
    });
  }

  #onHttp2(socket: TLSSocket): void {
    let bytes = Buffer.alloc(0);
    let preface = PREFACE_BYTES;
    socket.write(frame(H2_FRAME.SETTINGS, 0, 0, Buffer.alloc(0)));
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      if (preface > 0 && bytes.length >= preface) {
        bytes = bytes.subarray(preface);
        preface = 0;
      }
      while (preface === 0 && bytes.length >= FRAME_HEADER_BYTES) {
        const length = bytes.readUIntBE(0, 3);
        if (bytes.length < FRAME_HEADER_BYTES + length) return;
        const [type, flags, stream] = [bytes[3]!, bytes[4]!, bytes.readUInt32BE(5)];
        bytes = bytes.subarray(FRAME_HEADER_BYTES + length);
        if (type === H2_FRAME.SETTINGS && (flags & 1) === 0)
          socket.write(frame(H2_FRAME.SETTINGS, 1, 0, Buffer.alloc(0)));
        // As servers do (RFC 9113 section 5.4.1). libcurl 8.14 waits for it after an error of the connection.
        if (type === H2_FRAME.GOAWAY) socket.end();
        if (type === H2_FRAME.HEADERS) this.#onHeaders(socket, stream);
      }
    });
  }

  #onHeaders(socket: TLSSocket, stream: number): void {
    if (!this.#shown) {
      socket.write(frame(H2_FRAME.HEADERS, 5, stream, Buffer.from([0x88])));
      return;
    }
    const { pieces, after, endless } = this.#shown;
    send(socket, {
      pieces: pieces.map((piece) => numbered(Buffer.from(piece), stream)),
      after,
      ...(endless ? { endless: numbered(Buffer.from(endless), stream) } : {}),
    });
  }
}

function numbered(bytes: Buffer, stream: number): Buffer {
  for (let at = 0; at + FRAME_HEADER_BYTES <= bytes.length; ) {
    if (bytes.readUInt32BE(at + 5) === ITS_STREAM) bytes.writeUInt32BE(stream, at + 5);
    at += FRAME_HEADER_BYTES + bytes.readUIntBE(at, 3);
  }
  return bytes;
}

function send(socket: TLSSocket, { pieces, after, endless }: Bytes): void {
  for (const piece of pieces) socket.write(piece);
  if (endless) {
    const more = (): void => {
      while (!socket.destroyed && socket.write(endless));
    };
    socket.on('drain', more);
    more();
  } else if (after === 'end') socket.end();
  // After what was written.
  else if (after === 'reset') socket.write('', () => socket.destroy());
}
