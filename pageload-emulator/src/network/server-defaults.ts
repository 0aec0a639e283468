import type { ServerProfile } from '@hopwise/contract';

/**
 * The profile of an unknown server: Linux TCP (Cubic, initial window of 10 by RFC 6928) and a QUIC stack like quic-go's
 * (Reno, initial window of 32). It is assumed to offer h1 and, over TLS, h2.
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
