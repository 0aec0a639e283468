/** WebSockets and other upgrades (RFC 9110 section 7.8): from the request on, the connection is tunnelled to the origin. */
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { connect, createSecureContext, type TLSSocket } from 'node:tls';
import type { AddressSpace } from '@hopwise/contract';
import { AddressRefusedError } from '../../base/permitted-address.ts';
import { caFile } from '../../curl/ca-file.ts';
import { CONNECT_TIMEOUT_MS } from '../../curl/easy-options.ts';
import { ExchangeError } from '../../exchange/exchange.ts';
import { connectToOrigin } from '../proxy/connect-permitted.ts';
import { EndWhenIdle } from '../proxy/end-when-idle.ts';
import { IDLE_TIMEOUT_MS } from '../proxy/tunnel.ts';
import { fieldsOf } from './browser-request.ts';

/** Fields that are meant for proxies. */
const PROXY_FIELDS = new Set(['proxy-authorization', 'proxy-connection']);

interface UpgradeTarget {
  host: string;
  port: number;
  /** Bounds the addresses that it may be connected to. */
  from: AddressSpace;
}

/**
 * Opens a verified connection to the origin and forwards the request unchanged, then every byte in both directions.
 *
 * @param browser without listeners; what it sent after the request is in `head`.
 * @param ending is aborted when the connection has to end once it is idle
 * @param onRefused called when the origin could not be used; the browser's connection has been closed by then.
 */
export async function passUpgrade(
  request: IncomingMessage,
  browser: Duplex,
  head: Buffer,
  target: UpgradeTarget,
  ending: AbortSignal,
  onRefused: (fault: ExchangeError) => void,
): Promise<void> {
  const connecting = new AbortController();
  const timer = setTimeout(() => connecting.abort(new Error('no connection in time')), CONNECT_TIMEOUT_MS.h1);
  const onGone = (): void => connecting.abort(new Error('the browser closed the connection'));
  browser.on('error', () => {}).once('close', onGone);
  try {
    const upstream = await connectVerified(target, connecting.signal);
    upstream.setNoDelay(true);
    upstream.setTimeout(IDLE_TIMEOUT_MS, () => upstream.destroy());
    upstream.write(requestHead(request), 'latin1');
    if (head.length > 0) upstream.write(head);
    pass(browser, upstream);
    pass(upstream, browser);
    const end = new EndWhenIdle(browser, upstream, () => {
      browser.destroy();
      upstream.destroy();
    });
    // Its limit is the one of all connections of the origin.
    const onEnding = (): void => end.start(Number.POSITIVE_INFINITY);
    if (ending.aborted) onEnding();
    else ending.addEventListener('abort', onEnding, { once: true });
  } catch (fault) {
    const isGone = browser.destroyed;
    browser.destroy();
    if (!isGone) onRefused(refusal(fault as Error));
  } finally {
    clearTimeout(timer);
    browser.off('close', onGone);
  }
}

/** The origin's certificate was not accepted. */
class CertificateError extends Error {}

/** @throws AddressRefusedError, CertificateError; errors of the file system, the connection or the handshake; the signal's reason */
async function connectVerified(target: UpgradeTarget, signal: AbortSignal): Promise<TLSSocket> {
  const bundle = caFile();
  const secureContext = createSecureContext({
    minVersion: 'TLSv1.2',
    ...(bundle ? { ca: readFileSync(bundle) } : {}),
  });
  const socket = await connectToOrigin(target, signal);
  const upstream = connect({
    socket,
    servername: target.host,
    ALPNProtocols: ['http/1.1'],
    secureContext,
  });
  return new Promise((resolve, reject) => {
    const onAbort = (): void => void upstream.destroy(signal.reason as Error);
    const onError = (fault: Error): void => {
      signal.removeEventListener('abort', onAbort);
      reject(upstream.authorizationError ? new CertificateError(fault.message) : fault);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    upstream.once('error', onError).once('secureConnect', () => {
      signal.removeEventListener('abort', onAbort);
      upstream.off('error', onError);
      resolve(upstream);
    });
    if (signal.aborted) onAbort();
  });
}

function refusal(fault: Error): ExchangeError {
  const code =
    fault instanceof AddressRefusedError
      ? 'local-address'
      : fault instanceof CertificateError
        ? 'certificate'
        : 'connect';
  return new ExchangeError(code, fault.message, false);
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
