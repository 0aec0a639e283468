/** Chromium's command line: which protocol its requests use, and no traffic besides the page's. */
import type { Assignment, Protocol } from '@hopwise/pageload-emulator';
import { DISABLED_FEATURES } from '../browser/chromium-features.ts';

/** A protocol that every request is forced onto, or what Chromium picks by Alt-Svc. */
export type ProtocolMode = Protocol | 'natural';

/**
 * The protocol setting that a browser is started with. Under an assignment Chromium forces HTTP/3 on the origins assigned to it
 * and uses no QUIC with the others; those use HTTP/1.1 or HTTP/2 by what their server offers (ALPN).
 */
export type BrowserProtocol = ProtocolMode | { assignment: Assignment };

/** An unused port: forcing QUIC there allows it on the host despite a private CA, and forces nothing else. */
const UNUSED_PORT = 9;

/** Keeps the browser's own background traffic off the link. */
export const QUIET_ARGS = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  // Chromium's sandbox refuses to run as root.
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
];

/** Switches for every Chromium that hopwise drives with Playwright. */
export const CHROMIUM_ARGS = [...QUIET_ARGS, DISABLED_FEATURES];

/** Chromium's switches for a protocol or an assignment. @param hosts names of the page's hosts */
export function protocolArgs(protocol: BrowserProtocol, hosts: string[]): string[] {
  if (typeof protocol === 'object') {
    const forced = Object.entries(protocol.assignment).flatMap(([origin, assigned]) => {
      const { hostname, port } = new URL(origin);
      return assigned === 'h3' ? [`${hostname}:${port || 443}`] : [];
    });
    return forced.length === 0
      ? ['--disable-quic']
      : ['--enable-quic', `--origin-to-force-quic-on=${forced.join(',')}`];
  }
  const force = (port: number) =>
    hosts.length === 0
      ? []
      : [`--origin-to-force-quic-on=${hosts.map((host) => `${host}:${port}`).join(',')}`];
  switch (protocol) {
    case 'h1':
      return ['--disable-http2', '--disable-quic'];
    case 'h2':
      return ['--disable-quic'];
    case 'h3':
      return ['--enable-quic', ...force(443)];
    case 'natural':
      return ['--enable-quic', ...force(UNUSED_PORT)];
  }
}
