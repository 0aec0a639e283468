/** Determines whether the browser accepts certificates of the local CA before a page depends on it. */
import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import type { Duplex } from 'node:stream';
import { launcherCommand } from '../../base/launcher.ts';
import type { LeafIssuer } from '../../ca/leaf-issuer.ts';

/** On loopback, with a browser at the other end. */
const TRIAL_LIMIT_MS = 10_000;

const TOKEN_BYTES = 16;

/** TLS alerts by which a client rejects a certificate (RFC 8446 section 6.2), in Node's error codes. */
const CERTIFICATE_ALERT =
  /ALERT_(?:BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_(?:REVOKED|EXPIRED|UNKNOWN)|UNKNOWN_CA)$/;

export const DISTRUST = `this browser does not trust the local CA: ${launcherCommand('ca trust')}, then restart it`;

/** Whether a handshake ended because the client rejected the certificate. */
export function isDistrust(fault: Error & { code?: unknown }): boolean {
  return typeof fault.code === 'string' && CERTIFICATE_ALERT.test(fault.code);
}

interface BrowserTrustOptions {
  issuer: LeafIssuer;
  log: (line: string) => void;
  onTrusted: (host: string) => void;
  onDistrusted: (host: string) => void;
}

/** Hosts are as in `URL.hostname`. */
export class BrowserTrust {
  readonly #options: BrowserTrustOptions;
  readonly #trusted = new Set<string>();
  /** Path segment of the browser's own trials: requests of pages prove nothing, as the user may have accepted any certificate. */
  readonly token = randomBytes(TOKEN_BYTES).toString('base64url');

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
   * Takes over a connection to the host's trial port before its first byte. A request for the token proves trust, and a TLS alert
   * about the certificate distrust. A connection that ends in another way proves neither.
   */
  accept(socket: Duplex, host: string): void {
    socket.on('error', () => {});
    const timer = setTimeout(() => socket.destroy(), TRIAL_LIMIT_MS);
    socket.once('close', () => clearTimeout(timer));
    this.#server(host).emit('connection', socket);
  }

  #server(host: string): Server {
    const { issuer, log, onTrusted, onDistrusted } = this.#options;
    const onFault = (fault: Error, socket: Duplex): void => {
      socket.destroy();
      if (!isDistrust(fault) || this.#trusted.has(host)) return;
      log(`pin: the browser rejected the local CA's certificate for ${host}`);
      onDistrusted(host);
    };
    const server = createServer({
      minVersion: 'TLSv1.2',
      SNICallback: (name, done) => {
        const context = name === host ? issuer.contextFor(host) : null;
        if (context) done(null, context);
        else done(new Error('not the host of the trial'));
      },
    });
    server
      .on('tlsClientError', onFault)
      .on('request', ({ url }, response) => {
        const isTrial = url === `/${this.token}`;
        response.writeHead(isTrial ? 204 : 404, { 'cache-control': 'no-store', connection: 'close' }).end();
        if (!isTrial || this.#trusted.has(host)) return;
        this.#trusted.add(host);
        onTrusted(host);
      })
      .on('clientError', onFault);
    return server;
  }
}
