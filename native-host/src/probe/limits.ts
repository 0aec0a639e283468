/** Limits that keep a probe from burdening servers. */

/** A server that answers so asks for fewer requests (RFC 6585 section 4; RFC 9110 section 15.6.4). */
export const STOP_STATUSES = [429, 503];

export const LIMITS = {
  // Blocked UDP shows as silence: a QUIC handshake that takes more than 5 s will not complete.
  connectTimeoutMs: { h1: 10_000, h2: 10_000, h3: 5_000 },
  totalTimeoutMs: 60_000,
  stallSeconds: 15,
  stopOn: STOP_STATUSES,
};
