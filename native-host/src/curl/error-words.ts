/** Whether what libcurl wrote about a failure is about that failure. */
import { CODE } from './curl-constants.ts';

/** A certificate was not accepted. */
export const CERTIFICATE_CODES: ReadonlySet<number> = new Set<number>([
  CODE.PEER_FAILED_VERIFICATION,
  CODE.SSL_CACERT_BADFILE,
  CODE.SSL_CRL_BADFILE,
  CODE.SSL_ISSUER_ERROR,
  CODE.SSL_INVALIDCERTSTATUS,
  CODE.SSL_CLIENTCERT,
]);

/** How libcurl begins its messages about socket errors (`cf-socket.c`). */
export const SOCKET_FAILURE = /^(Recv|Send) failure: /;

/** How it begins those about attempts to connect over UDP (`curl_ngtcp2.c`): one for each address of a host. */
const ATTEMPT_FAILURE = /^QUIC: connection to /;

/**
 * Whether libcurl's message describes its result code: libcurl keeps the first message of a transfer that has lost its connection
 * and continued on another, or that had to try a further address of the host.
 *
 * @param isConnected whether a connection was established in the end
 */
export function describesCode(code: number, message: string, isConnected: boolean): boolean {
  if (message === '') return false;
  if (CERTIFICATE_CODES.has(code) && SOCKET_FAILURE.test(message)) return false;
  return !(isConnected && ATTEMPT_FAILURE.test(message));
}
