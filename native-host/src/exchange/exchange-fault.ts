import type { Protocol } from '@hopwise/contract';
import { CODE } from '../curl/curl-constants.ts';
import { CERTIFICATE_CODES, SOCKET_FAILURE } from '../curl/error-words.ts';

/**
 * Why an exchange failed:
 * - `connect`: no connection to the origin,
 * - `local-address`: no connection, because none of its addresses may be reached from the request's address space,
 * - `certificate`: its certificate was not accepted,
 * - `protocol`: the origin does not speak the protocol, violates it, or answers what the engine does not accept,
 * - `timeout`: no connection in time,
 * - `reset`: the connection was broken off by the origin or on the path,
 * - `engine-died`: the engine's process has ended or could not be started,
 * - `refused-locally`: never attempted.
 */
export type ExchangeErrorCode =
  | 'connect'
  | 'local-address'
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
  phase: ExchangePhase;
}

/**
 * How far the engine got with an exchange: it waited for a connection, the request was about to be sent, the response's header was
 * arriving or had arrived, or the engine itself refused to continue or had ended it.
 */
export type ExchangePhase = 'waiting' | 'sent' | 'answering' | 'responding' | 'refused' | 'ended' | 'freed';

/** The TLS handshake failed, mostly for lack of a common ALPN protocol. */
const HANDSHAKE = new Set<number>([CODE.SSL_CONNECT_ERROR, CODE.SSL_CIPHER]);

/**
 * The response is not in the requested protocol, or libcurl does not take what browsers may: header lines of 100 kB, 300 kB of them in all,
 * transfer codings but `chunked`.
 */
const MALFORMED = new Set<number>([
  CODE.UNSUPPORTED_PROTOCOL,
  CODE.WEIRD_SERVER_REPLY,
  CODE.HTTP2,
  CODE.BAD_CONTENT_ENCODING,
  CODE.TOO_LARGE,
]);

/** Whether the handshake failed. Any middlebox can break off a handshake; only the origin can answer a request. */
export function isHandshakeFailure({ code, sent }: Pick<ExchangeFault, 'code' | 'sent'>): boolean {
  return code === 'protocol' && !sent;
}

/**
 * @param code libcurl's result code.
 * @param message libcurl's message, which distinguishes faults with the same code; '' for none.
 */
export function errorCode(
  code: number,
  message: string,
  { protocol, phase }: { protocol: Protocol; phase: ExchangePhase },
): ExchangeErrorCode {
  const connected = phase !== 'waiting';
  if (CERTIFICATE_CODES.has(code)) return 'certificate';
  // A QUIC handshake that fails for the certificate is reported as one that fails.
  if (protocol === 'h3' && !connected && /certificate|\bcert\b|verif/i.test(message)) return 'certificate';
  // In TLS 1.3 a server that requires a client certificate says so after the handshake.
  if (connected && phase !== 'responding' && /\balert\b/i.test(message)) return 'certificate';
  if (HANDSHAKE.has(code)) return connected ? 'reset' : 'protocol';
  if (code === CODE.OPERATION_TIMEDOUT) return 'timeout';
  if (!connected) return 'connect';
  // libcurl 8.14 has a message for malformed input, and none or a socket error for a connection that has just ended.
  if (code === CODE.HTTP2 && (message === '' || SOCKET_FAILURE.test(message))) return 'reset';
  return MALFORMED.has(code) ? 'protocol' : 'reset';
}
