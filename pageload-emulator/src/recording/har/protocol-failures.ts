import type { Recording } from '@hopwise/contract';
import { originOf } from '../../util/url.ts';
import type { Entry } from './schema.ts';
import { typeOf } from './types.ts';

/** Chromium's errors of a protocol and of what carries it (`net_error_list.h`), until 2019 as SPDY's: `net::ERR_QUIC_PROTOCOL_ERROR`, … */
const ERRORS = { h2: /^(net::)?ERR_(HTTP2|SPDY)_/, h3: /^(net::)?ERR_(QUIC|HTTP3)_/ };

/**
 * Counts requests that failed because of HTTP/2 or HTTP/3. Browsers do not repeat over another protocol what failed on a connection that had
 * been established: the page lacks it until somebody loads the page again. Answers that were cut off have a status, too. Beacons count for
 * nothing: no page waits for them, and one that is left ends them.
 *
 * @param entries of all loads in the file, as a load that fails is often followed by one over another protocol
 * @param origins of the load that is taken
 * @returns without protocols over which none failed
 */
export function countProtocolFailures(
  entries: readonly Entry[],
  origins: ReadonlySet<string>,
): NonNullable<Recording['failedOver']> {
  const counts: NonNullable<Recording['failedOver']> = {};
  for (const entry of entries) {
    const error = entry.response?._error;
    if (typeof error !== 'string' || typeOf(entry).type === 'beacon') continue;
    if (!origins.has(originOf(entry.request.url) ?? '')) continue;
    for (const protocol of ['h2', 'h3'] as const) {
      if (ERRORS[protocol].test(error)) counts[protocol] = (counts[protocol] ?? 0) + 1;
    }
  }
  return counts;
}
