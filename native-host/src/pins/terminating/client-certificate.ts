/**
 * Whether an origin asks for a client certificate. A browser can offer one, the engine cannot: the origin would send another page or
 * an error.
 */
import type { Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { AddressSpace } from '@hopwise/contract';
import { connectToOrigin } from '../proxy/connect-permitted.ts';

/** Records of TLS 1.2 and messages of its handshake (RFC 5246 sections 6.2.1 and 7.4). */
const RECORD_HEADER_BYTES = 5;
const HANDSHAKE_RECORD = 22;
const MESSAGE_HEADER_BYTES = 4;
const CERTIFICATE_REQUEST = 13;
const SERVER_HELLO_DONE = 14;

/** Longer than any certificate chain that clients accept. */
const MAX_FLIGHT_BYTES = 128 * 1024;

/** Parses a server's first flight of TLS 1.2, which is not encrypted, in any segmentation. */
export class ServerFlight {
  #bytes = Buffer.alloc(0);

  /** @returns whether a certificate is requested; null while that is open; false for invalid bytes. */
  push(chunk: Uint8Array): boolean | null {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    if (this.#bytes.length > MAX_FLIGHT_BYTES) return false;
    const messages: Buffer[] = [];
    for (let at = 0; at + RECORD_HEADER_BYTES <= this.#bytes.length; ) {
      if (this.#bytes[at] !== HANDSHAKE_RECORD) return false;
      const end = at + RECORD_HEADER_BYTES + this.#bytes.readUInt16BE(at + 3);
      messages.push(this.#bytes.subarray(at + RECORD_HEADER_BYTES, end));
      at = end;
    }
    const flight = Buffer.concat(messages);
    for (let at = 0; at + MESSAGE_HEADER_BYTES <= flight.length; ) {
      if (flight[at] === CERTIFICATE_REQUEST) return true;
      if (flight[at] === SERVER_HELLO_DONE) return false;
      at += MESSAGE_HEADER_BYTES + flight.readUIntBE(at + 1, 3);
    }
    return null;
  }
}

/** `from` bounds the addresses that it may be connected to. */
export interface CertificateTarget {
  host: string;
  port: number;
  from: AddressSpace;
}

/**
 * Begins a handshake of TLS 1.2, in which the request for a certificate is readable, and ends it before any application data.
 * Origins that only support TLS 1.3, or that ask on certain paths, are not detected.
 *
 * @param target with its host as in `URL.hostname`, a name.
 * @returns false also when it could not be determined.
 */
export async function asksForCertificate(target: CertificateTarget, limitMs: number): Promise<boolean> {
  const { host } = target;
  const limit = AbortSignal.timeout(limitMs);
  const socket = await connectToOrigin(target, limit).catch(() => null);
  if (!socket) return false;
  return readFlight(socket, host, limit);
}

function readFlight(socket: Socket, host: string, limit: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const [inner, outer] = duplexPair();
    const tls = connectTls({
      socket: inner,
      servername: host,
      maxVersion: 'TLSv1.2',
      rejectUnauthorized: false,
    });
    const onLate = (): void => end(false);
    limit.addEventListener('abort', onLate, { once: true });
    const flight = new ServerFlight();
    function end(asks: boolean): void {
      limit.removeEventListener('abort', onLate);
      for (const stream of [tls, outer, socket]) stream.destroy();
      resolve(asks);
    }
    for (const stream of [tls, inner, outer, socket]) stream.on('error', () => end(false));
    outer.on('data', (chunk: Buffer) => socket.write(chunk));
    socket
      .on('data', (chunk) => {
        const asks = flight.push(chunk);
        if (asks !== null) end(asks);
      })
      .once('close', () => end(false));
  });
}
