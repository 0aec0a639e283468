/** Origins that answer with whatever bytes a test gives them, over TLS. */

import type { AddressInfo } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { LeafIssuer } from '../../../src/ca/leaf-issuer.ts';

/** What becomes of a connection after its answer. */
export type After = 'keep' | 'end' | 'reset';

export interface Answer {
  pieces: Uint8Array[];
  after: After;
  /** Sent again and again until the connection ends. */
  endless?: Uint8Array;
}

const HEAD_END = '\r\n\r\n';
const PREFACE_BYTES = 24;
const FRAME_HEADER_BYTES = 9;
const HEADERS_FRAME = 1;

/** Answers each request by `answer`, once it is asked; before, and over HTTP/1.1 always, the helper's own looks are answered well. */
export class HostileOrigin {
  answer: Answer = { pieces: [], after: 'end' };
  isAsked = false;
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

  static async listen(issuer: LeafIssuer, protocol: 'h1' | 'h2'): Promise<HostileOrigin> {
    const origin = new HostileOrigin(issuer, protocol);
    await new Promise<void>((resolve) => origin.#server.listen(0, '127.0.0.1', resolve));
    return origin;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
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
      if (isCheck) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      else send(socket, this.answer);
    });
  }

  #onHttp2(socket: TLSSocket): void {
    let bytes = Buffer.alloc(0);
    let preface = PREFACE_BYTES;
    socket.write(frame(4, 0, 0, Buffer.alloc(0)));
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
        if (type === 4 && (flags & 1) === 0) socket.write(frame(4, 1, 0, Buffer.alloc(0)));
        if (type === HEADERS_FRAME) this.#onHeaders(socket, stream);
      }
    });
  }

  #onHeaders(socket: TLSSocket, stream: number): void {
    if (!this.isAsked) {
      socket.write(frame(HEADERS_FRAME, 5, stream, Buffer.from([0x88])));
      return;
    }
    const { pieces, after, endless } = this.answer;
    send(socket, {
      pieces: pieces.map((piece) => numbered(Buffer.from(piece), stream)),
      after,
      ...(endless ? { endless: numbered(Buffer.from(endless), stream) } : {}),
    });
  }
}

/** The stream that frames of an answer name where they mean that of the request. */
export const ITS_STREAM = 0x7fff_fffe;

function numbered(bytes: Buffer, stream: number): Buffer {
  for (let at = 0; at + FRAME_HEADER_BYTES <= bytes.length; ) {
    if (bytes.readUInt32BE(at + 5) === ITS_STREAM) bytes.writeUInt32BE(stream, at + 5);
    at += FRAME_HEADER_BYTES + bytes.readUIntBE(at, 3);
  }
  return bytes;
}

/** A frame of HTTP/2 (RFC 9113 section 4.1). */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = type;
  header[4] = flags;
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}

/** A literal field of HPACK that is not indexed, without Huffman coding (RFC 7541 section 6.2.2); up to 126 bytes each. */
export function field(name: string, value: string): Buffer {
  return Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name, 'latin1'),
    Buffer.from([value.length]),
    Buffer.from(value, 'latin1'),
  ]);
}

function send(socket: TLSSocket, { pieces, after, endless }: Answer): void {
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
