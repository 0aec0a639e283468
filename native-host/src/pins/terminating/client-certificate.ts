/**
 * Whether an origin asks for a client certificate. A browser can offer one, the engine cannot: the origin would send another page or
 * an error.
 */
import { connect as connectTcp } from 'node:net';
import { duplexPair } from 'node:stream';
import { connect as connectTls } from 'node:tls';

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

/**
 * Begins a handshake of TLS 1.2, in which the request for a certificate is readable, and ends it before any application data.
 * Origins that only support TLS 1.3, or that ask on certain paths, are not detected.
 *
 * @param host as in `URL.hostname`, a name.
 * @returns false also when it could not be determined.
 */
export function asksForCertificate(host: string, port: number, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const tcp = connectTcp({ host, port });
    const [inner, outer] = duplexPair();
    const tls = connectTls({
      socket: inner,
      servername: host,
      maxVersion: 'TLSv1.2',
      rejectUnauthorized: false,
    });
    const timer = setTimeout(() => end(false), limitMs);
    const flight = new ServerFlight();
    function end(asks: boolean): void {
      clearTimeout(timer);
      for (const stream of [tls, outer, tcp]) stream.destroy();
      resolve(asks);
    }
    for (const stream of [tls, inner, outer, tcp]) stream.on('error', () => end(false));
    outer.on('data', (chunk: Buffer) => tcp.write(chunk));
    tcp
      .on('data', (chunk) => {
        const asks = flight.push(chunk);
        if (asks !== null) end(asks);
      })
      .once('close', () => end(false));
  });
}
