import { originOf } from '../../util/url.ts';
import type { Entry } from './schema.ts';
import { typeOf } from './types.ts';

/** Chromium's errors of HTTP/3 and of what carries it (`net_error_list.h`): `net::ERR_QUIC_PROTOCOL_ERROR`, `net::ERR_QUIC_HANDSHAKE_FAILED`, … */
const QUIC_ERROR = /^(net::)?ERR_(QUIC|HTTP3)_/;

/**
 * Counts requests that failed because of HTTP/3. Browsers do not repeat over TCP what failed on a connection that had been established: the
 * page lacks it until somebody loads the page again. Answers that were cut off have a status, too. Beacons count for nothing: no page waits
 * for them, and one that is left ends them.
 *
 * @param entries of all loads in the file, as a load that fails is often followed by one over TCP
 * @param origins of the load that is taken
 */
export function countQuicFailures(entries: readonly Entry[], origins: ReadonlySet<string>): number {
  return entries.filter((entry) => {
    const { request, response } = entry;
    const error = response?._error;
    if (typeOf(entry).type === 'beacon') return false;
    return typeof error === 'string' && QUIC_ERROR.test(error) && origins.has(originOf(request.url) ?? '');
  }).length;
}
