import type { Protocol } from '@hopwise/contract';
import { CODE } from '../curl/curl-constants.ts';

/**
 * What went wrong with an exchange:
 * - `connect`: no connection to the origin,
 * - `certificate`: its certificate was not accepted,
 * - `protocol`: the origin does not speak the protocol, or not as it should,
 * - `timeout`: no connection in time,
 * - `reset`: broken off after that, by the origin or on the way,
 * - `engine-died`: the engine's process is gone, or there is none,
 * - `refused-locally`: never tried.
 */
export type ExchangeErrorCode =
  | 'connect'
  | 'certificate'
  | 'protocol'
  | 'timeout'
  | 'reset'
  | 'engine-died'
  | 'refused-locally';

export interface ExchangeFault {
  code: ExchangeErrorCode;
  message: string;
  /** Whether a byte of the request may have reached the origin. */
  sent: boolean;
}

const CERTIFICATE = new Set<number>([
  CODE.PEER_FAILED_VERIFICATION,
  CODE.SSL_CACERT_BADFILE,
  CODE.SSL_CRL_BADFILE,
  CODE.SSL_ISSUER_ERROR,
  CODE.SSL_INVALIDCERTSTATUS,
  CODE.SSL_CLIENTCERT,
]);

/** The TLS handshake failed; behind it mostly no common ALPN protocol. */
const HANDSHAKE = new Set<number>([CODE.SSL_CONNECT_ERROR, CODE.SSL_CIPHER]);

/** What came is not in the protocol that was asked for. */
const MALFORMED = new Set<number>([CODE.UNSUPPORTED_PROTOCOL, CODE.WEIRD_SERVER_REPLY, CODE.HTTP2]);

/** Whether a handshake has failed, which anybody on the way may have broken off; what answers a request is the origin's. */
export function isOfHandshake({ code, sent }: Pick<ExchangeFault, 'code' | 'sent'>): boolean {
  return code === 'protocol' && !sent;
}

/** How libcurl begins what it says of an error of the system's (`cf-socket.c`). */
const SOCKET_FAILURE = /^(Recv|Send) failure: /;

/**
 * Whether libcurl's words are about its code: it keeps the first words of an exchange that has lost its connection and gone on with
 * another.
 */
export function areAbout(code: number, words: string): boolean {
  return words !== '' && !(CERTIFICATE.has(code) && SOCKET_FAILURE.test(words));
}

/** How far an exchange had come. */
export interface Progress {
  protocol: Protocol;
  /** A connection was there, and the request about to go out. */
  connected: boolean;
  /** The response's header was there. */
  answered: boolean;
}

/**
 * @param code libcurl's.
 * @param words libcurl's own, to tell apart what shares a code; '' for none.
 */
export function errorCode(
  code: number,
  words: string,
  { protocol, connected, answered }: Progress,
): ExchangeErrorCode {
  if (CERTIFICATE.has(code)) return 'certificate';
  // A QUIC handshake that fails for the certificate is reported as one that fails.
  if (protocol === 'h3' && !connected && /certificate|\bcert\b|verif/i.test(words)) return 'certificate';
  // Who wants a certificate from the client says so, in TLS 1.3, after the handshake.
  if (connected && !answered && /\balert\b/i.test(words)) return 'certificate';
  if (HANDSHAKE.has(code)) return connected ? 'reset' : 'protocol';
  if (code === CODE.OPERATION_TIMEDOUT) return 'timeout';
  if (!connected) return 'connect';
  // libcurl 8.14 has words for what is malformed, and none or its socket's for a connection that has just ended.
  if (code === CODE.HTTP2 && (words === '' || SOCKET_FAILURE.test(words))) return 'reset';
  return MALFORMED.has(code) ? 'protocol' : 'reset';
}
