import type { Protocol } from '@hopwise/contract';

/** One round trip of a handshake: what the client sends, then what the server answers; bytes on the wire. */
export interface HandshakeRound {
  upBytes: number;
  downBytes: number;
}

/** The handshake of a connection. */
export interface Handshake {
  rounds: readonly HandshakeRound[];
  /** Number of rounds before the first request, which travels together with the remaining rounds. */
  requestsAfter: number;
}

/** Variations of a handshake; all absent for a first visit to an ordinary server. */
interface HandshakeOptions {
  /** A TLS session kept from an earlier visit, and whether the server accepts early data. */
  session?: 'resumed' | 'early-data' | undefined;
  /** False Start: whether requests go with the client's Finished under TLS 1.2 (RFC 7918). */
  falseStart?: boolean | undefined;
  /** Additional round trips: HelloRetryRequest (RFC 8446 section 4.1.4), Retry and version negotiation (RFC 9000 sections 8.1.2 and 6). */
  extraRounds?: number | undefined;
  /** Whether TCP ends near by (`ServerProfile.tcpEndsNearby`): its round trip takes no time. */
  tcpEndsNearby?: boolean | undefined;
}

/** SYN, SYN/ACK with options, IPv4. */
const TCP_OPEN: HandshakeRound = { upBytes: 60, downBytes: 60 };
/** ClientHello with a hybrid post-quantum key share; when resuming, with a ticket and its binder. */
const CLIENT_HELLO_BYTES = 1_850;
const RESUMING_HELLO_BYTES = 2_100;
/** ServerHello, a chain of two certificates, Finished; without certificates when resuming (RFC 8446 section 2.2). */
const TLS13: HandshakeRound = { upBytes: CLIENT_HELLO_BYTES, downBytes: 3_700 };
const TLS13_RESUMED: HandshakeRound = { upBytes: RESUMING_HELLO_BYTES, downBytes: 1_450 };
const HELLO_RETRY: HandshakeRound = { upBytes: CLIENT_HELLO_BYTES, downBytes: 200 };
const TLS12_HELLO: HandshakeRound = { upBytes: CLIENT_HELLO_BYTES, downBytes: 3_200 };
const TLS12_FINISHED: HandshakeRound = { upBytes: 190, downBytes: 290 };
/** ServerHello and Finished in one flight (RFC 5246 section 7.3, figure 2). */
const TLS12_RESUMED: HandshakeRound = { upBytes: RESUMING_HELLO_BYTES, downBytes: 350 };
/** Two padded Initials (RFC 9000 section 14.1); the answer stays within the threefold of section 8.1. */
const INITIALS_BYTES = 2_500;
const QUIC_OPEN: HandshakeRound = { upBytes: INITIALS_BYTES, downBytes: 4_000 };
const QUIC_RESUMED: HandshakeRound = { upBytes: INITIALS_BYTES, downBytes: 1_600 };
/** Retry or Version Negotiation: one packet. */
const QUIC_RETRY: HandshakeRound = { upBytes: INITIALS_BYTES, downBytes: 180 };

/**
 * Returns the handshake of a connection: TCP takes 1 round trip, TLS 1.3 1 more (RFC 8446 section 2), TLS 1.2 2 more or, when
 * resuming or with False Start, 1 (RFC 5246 section 7.3, RFC 7918); QUIC takes 1 in all (RFC 9001 section 4). Early data leaves
 * with the ClientHello: after TCP's round trip (RFC 8446 section 2.3), over QUIC at once (RFC 9001 section 4.6), but not before
 * an extra round trip, by which the server rejects it.
 *
 * @param tls null for plain HTTP, which is possible over HTTP/1.1 only
 */
export function handshakeOf(
  protocol: Protocol,
  tls: '1.2' | '1.3' | null,
  options: HandshakeOptions = {},
): Handshake {
  const handshake = wholeHandshake(protocol, tls, options);
  if (protocol === 'h3' || options.tcpEndsNearby !== true) return handshake;
  return { rounds: handshake.rounds.slice(1), requestsAfter: handshake.requestsAfter - 1 };
}

/** The handshake with a server that ends all of it. */
function wholeHandshake(protocol: Protocol, tls: '1.2' | '1.3' | null, options: HandshakeOptions): Handshake {
  const { session, falseStart = false, extraRounds = 0 } = options;
  if (protocol === 'h3') {
    const rounds = [
      ...new Array<HandshakeRound>(extraRounds).fill(QUIC_RETRY),
      session === undefined ? QUIC_OPEN : QUIC_RESUMED,
    ];
    return { rounds, requestsAfter: session === 'early-data' ? extraRounds : rounds.length };
  }
  if (tls === null && protocol === 'h1') return PLAIN;
  if (tls === '1.2') {
    if (session !== undefined) return { rounds: [TCP_OPEN, TLS12_RESUMED], requestsAfter: 2 };
    return { rounds: [TCP_OPEN, TLS12_HELLO, TLS12_FINISHED], requestsAfter: falseStart ? 2 : 3 };
  }
  const rounds = [
    TCP_OPEN,
    ...new Array<HandshakeRound>(extraRounds).fill(HELLO_RETRY),
    session === undefined ? TLS13 : TLS13_RESUMED,
  ];
  // A HelloRetryRequest refuses early data (RFC 8446 section 4.2.10).
  return { rounds, requestsAfter: session === 'early-data' && extraRounds === 0 ? 1 : rounds.length };
}

/** That of a connection which was open before. */
export const OPENED: Handshake = { rounds: [], requestsAfter: 0 };

const PLAIN: Handshake = { rounds: [TCP_OPEN], requestsAfter: 1 };

/** Returns the rounds of a first visit's handshake. */
export function handshakeRounds(protocol: Protocol, tls: '1.2' | '1.3' | null): readonly HandshakeRound[] {
  return handshakeOf(protocol, tls).rounds;
}
