import type { ServerProfile } from '@hopwise/contract';

/**
 * A server of which nothing is known: Linux TCP (Cubic, RFC 6928's window of 10) and a QUIC stack
 * like quic-go's (Reno, window of 32). It is assumed to speak h1 and h2; h3 only where seen.
 */
export function defaultServer(origin: string): ServerProfile {
  const secure = !origin.startsWith('http:');
  return {
    origin,
    extraRttMs: 0,
    thinkMs: 0,
    tcp: { initialWindow: 10, congestionControl: 'cubic' },
    quic: { initialWindow: 32, congestionControl: 'reno' },
    tlsVersion: '1.3',
    dnsMs: 0,
    offers: { h1: true, h2: secure, h3: false },
  };
}
