import type { Recording } from '@hopwise/contract';

/** Protocols that browsers name in errors. */
type FailingProtocol = 'h2' | 'h3';

/**
 * Browsers' errors of a protocol and of what carries it: Chromium's (`net_error_list.h`; until 2019 HTTP/2's were SPDY's), such as
 * `net::ERR_QUIC_PROTOCOL_ERROR`, and Firefox' of HTTP/3 (`ErrorList.py`).
 */
const ERRORS: Record<FailingProtocol, RegExp> = {
  h2: /^(net::)?ERR_(HTTP2|SPDY)_/,
  h3: /^(net::)?ERR_(QUIC|HTTP3)_|^NS_ERROR_NET_HTTP3_/,
};

/** The protocol because of which a request failed, by the browser's error; null for another reason. */
export function failedProtocol(error: string): FailingProtocol | null {
  const protocols = ['h2', 'h3'] as const;
  return protocols.find((protocol) => ERRORS[protocol].test(error)) ?? null;
}

/**
 * Counts requests that failed because of HTTP/2 or HTTP/3. Browsers do not repeat over another protocol what failed on a connection that had
 * been established: it stays missing until the page is loaded again.
 *
 * @param failed of each request, as `failedProtocol` returns it. Beacons are left out: no page waits for them, and one that is left ends them.
 * @returns the recording's field; without it where none failed so
 */
export function countFailures(failed: readonly (FailingProtocol | null)[]): Pick<Recording, 'failedOver'> {
  const failedOver: NonNullable<Recording['failedOver']> = {};
  for (const protocol of failed)
    if (protocol !== null) failedOver[protocol] = (failedOver[protocol] ?? 0) + 1;
  return Object.keys(failedOver).length > 0 ? { failedOver } : {};
}
