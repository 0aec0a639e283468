/** Determines whether the browser accepts certificates of the local CA before a page depends on it. */
import { createServer, type Server } from 'node:https';
import type { Duplex } from 'node:stream';
import type { LeafIssuer } from '../../ca/leaf-issuer.ts';

/** On loopback, with a browser at the other end. */
const TRIAL_LIMIT_MS = 10_000;

/** TLS alerts by which a client rejects a certificate (RFC 8446 section 6.2), in Node's error codes. */
const CERTIFICATE_ALERT =
  /ALERT_(?:BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_(?:REVOKED|EXPIRED|UNKNOWN)|UNKNOWN_CA)$/;

export const DISTRUST = 'this browser does not trust the local CA: hopwise-host ca trust, then restart it';

/** Whether a handshake ended because the client rejected the certificate. */
export function isDistrust(fault: Error & { code?: unknown }): boolean {
  return typeof fault.code === 'string' && CERTIFICATE_ALERT.test(fault.code);
}

export interface BrowserTrustOptions {
  issuer: LeafIssuer;
  log: (line: string) => void;
  onTrusted: (host: string) => void;
  onDistrusted: (host: string) => void;
}

/** Hosts are as in `URL.hostname`. */
export class BrowserTrust {
  readonly #options: BrowserTrustOptions;
  readonly #trusted = new Set<string>();

  constructor(options: BrowserTrustOptions) {
    this.#options = options;
  }

  isTrusted(host: string): boolean {
    return this.#trusted.has(host);
  }

  forget(host: string): void {
    this.#trusted.delete(host);
  }

  /**
   * Takes over a connection to the host's trial port before its first byte. A request on it proves trust; a connection that ends
   * without one counts as distrust: not every client sends an alert.
   */
  accept(socket: Duplex, host: string): void {
    const { log, onDistrusted } = this.#options;
    socket.on('error', () => {});
    const timer = setTimeout(() => socket.destroy(), TRIAL_LIMIT_MS);
    socket.once('close', () => {
      clearTimeout(timer);
      if (this.#trusted.has(host)) return;
      log(`pin: the browser rejected the local CA's certificate for ${host}`);
      onDistrusted(host);
    });
    this.#server(host).emit('connection', socket);
  }

  #server(host: string): Server {
    const { issuer, onTrusted } = this.#options;
    const server = createServer({
      minVersion: 'TLSv1.2',
      SNICallback: (name, done) => {
        const context = name === host ? issuer.contextFor(host) : null;
        if (context) done(null, context);
        else done(new Error('not the host of the trial'));
      },
    });
    server
      .on('tlsClientError', (_fault, socket) => socket.destroy())
      .on('request', (_request, response) => {
        response.writeHead(204, { 'cache-control': 'no-store', connection: 'close' }).end();
        if (this.#trusted.has(host)) return;
        this.#trusted.add(host);
        onTrusted(host);
      })
      .on('clientError', (_fault, socket) => socket.destroy());
    return server;
  }
}
