/** WebSockets and other upgrades (RFC 9110 section 7.8): from the request on, the connection is tunnelled to the origin. */
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';
import { caFile } from '../../curl/ca-file.ts';
import { ExchangeError } from '../../exchange/exchange.ts';
import { IDLE_TIMEOUT_MS } from '../proxy/tunnel.ts';
import { fieldsOf } from './browser-request.ts';

/** The engine's time limit for TCP connections. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Fields that are meant for proxies. */
const PROXY_FIELDS = new Set(['proxy-authorization', 'proxy-connection']);

/**
 * Opens a verified connection to the origin and forwards the request unchanged, then every byte in both directions.
 *
 * @param browser without listeners; what it sent after the request is in `head`.
 * @param onRefused called when the origin could not be used; the browser's connection has been closed by then.
 */
export function passUpgrade(
  request: IncomingMessage,
  browser: Duplex,
  head: Buffer,
  origin: { host: string; port: number },
  onRefused: (fault: ExchangeError) => void,
): void {
  const { host, port } = origin;
  let upstream: TLSSocket;
  browser.on('error', () => {});
  try {
    const bundle = caFile();
    upstream = connect({
      host,
      port,
      servername: host,
      ALPNProtocols: ['http/1.1'],
      minVersion: 'TLSv1.2',
      ...(bundle ? { ca: readFileSync(bundle) } : {}),
    });
  } catch (fault) {
    browser.destroy();
    onRefused(new ExchangeError('refused-locally', (fault as Error).message, false));
    return;
  }
  const timer = setTimeout(() => upstream.destroy(new Error('no connection in time')), CONNECT_TIMEOUT_MS);
  const refuse = (fault: Error): void => {
    clearTimeout(timer);
    browser.destroy();
    const code = upstream.authorizationError ? 'certificate' : 'connect';
    onRefused(new ExchangeError(code, fault.message, false));
  };
  const onGone = (): void => {
    clearTimeout(timer);
    upstream.destroy();
  };
  browser.once('close', onGone);
  upstream.once('error', refuse);
  upstream.once('secureConnect', () => {
    clearTimeout(timer);
    upstream.off('error', refuse);
    browser.off('close', onGone);
    upstream.setNoDelay(true);
    upstream.setTimeout(IDLE_TIMEOUT_MS, () => upstream.destroy());
    upstream.write(requestHead(request), 'latin1');
    if (head.length > 0) upstream.write(head);
    pass(browser, upstream);
    pass(upstream, browser);
  });
}

/** The directions end independently; an abnormal end of one ends both. */
function pass(from: Duplex, to: Duplex): void {
  from.pipe(to);
  from.on('error', () => to.destroy());
  from.once('close', () => {
    if (!(from.readableEnded && from.writableFinished)) to.destroy();
  });
}

function requestHead({ method, url, rawHeaders }: IncomingMessage): string {
  const lines = fieldsOf(rawHeaders)
    .filter(([name]) => !PROXY_FIELDS.has(name.toLowerCase()))
    .map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${url} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
