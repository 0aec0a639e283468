import type { Protocol } from '../protocol.ts';

/** One round trip of a handshake: what the client sends, then what the server answers; bytes on the wire. */
export interface HandshakeRound {
  upBytes: number;
  downBytes: number;
}

/** SYN, SYN/ACK with options, IPv4. */
const TCP_OPEN: HandshakeRound = { upBytes: 60, downBytes: 60 };
/** ClientHello with a hybrid post-quantum key share; ServerHello, certificate chain of two, Finished. */
const TLS13: HandshakeRound = { upBytes: 1_850, downBytes: 3_700 };
const TLS12_HELLO: HandshakeRound = { upBytes: 560, downBytes: 3_200 };
const TLS12_FINISHED: HandshakeRound = { upBytes: 190, downBytes: 290 };
/** Two padded Initials (RFC 9000 section 14.1); the answer stays within the threefold of section 8.1. */
const QUIC_OPEN: HandshakeRound = { upBytes: 2_500, downBytes: 4_000 };

const PLAIN_TCP = [TCP_OPEN];
const TCP_TLS13 = [TCP_OPEN, TLS13];
const TCP_TLS12 = [TCP_OPEN, TLS12_HELLO, TLS12_FINISHED];
const QUIC = [QUIC_OPEN];

/**
 * Round trips before the first request can leave, on a first visit: TCP 1 and TLS 1.3 another 1
 * (RFC 8446 section 2) or TLS 1.2 another 2 (RFC 5246 section 7.3); QUIC 1 in all (RFC 9001 section 4).
 *
 * @param tls null for plain HTTP, which only HTTP/1.1 speaks
 */
export function handshakeRounds(protocol: Protocol, tls: '1.2' | '1.3' | null): readonly HandshakeRound[] {
  if (protocol === 'h3') return QUIC;
  if (tls === null && protocol === 'h1') return PLAIN_TCP;
  return tls === '1.2' ? TCP_TLS12 : TCP_TLS13;
}
