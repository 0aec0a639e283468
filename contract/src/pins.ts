import * as z from 'zod/mini';
import { PROTOCOLS } from './protocol.ts';
import { count, originSchema, text } from './schemas.ts';

/** `avoid-h3` keeps HTTP/3 away by a tunnel; a protocol is enforced by a proxy that terminates TLS. */
export const PIN_KINDS = ['avoid-h3', ...PROTOCOLS] as const;

export type PinKind = (typeof PIN_KINDS)[number];

/** The longest lifetime of a pin with an expiry, minutes: 30 days. */
export const MAX_PIN_MINUTES = 43_200;

/** Maximum number of pinned origins. */
export const MAX_PINS = 200;

/**
 * While a pin of a host waits for it, the proxy answers requests for `https://host:49151/` with a certificate of the local CA and
 * status 204: a browser that reports an error does not trust the CA. The port is reserved by IANA (RFC 6335).
 */
export const TRUST_TRIAL_PORT = 49_151;

/** Maximum number of hosts of one local CA: each enlarges the certificate that the browser stores. */
export const MAX_CA_HOSTS = 100;

export const pinKindSchema = z.enum(PIN_KINDS);
export const pinMinutesSchema = z.nullable(z.int().check(z.gte(1), z.lte(MAX_PIN_MINUTES)));

export const pinStateSchema = z.object({
  origin: originSchema,
  kind: pinKindSchema,
  /** Milliseconds since 1970; null for a pin without expiry. */
  expiresAtMs: z.nullable(count),
  persistent: z.boolean(),
  /** Whether it may lead to addresses that are not public. */
  allowLocal: z.optional(z.boolean()),
  /**
   * A `waiting` pin does not affect connections until it is known to work. A `lifted` one has no effect any more, and is
   * listed until it is replaced or unpinned.
   */
  state: z.enum(['waiting', 'active', 'lifted']),
  /** Whether it was lifted because the origin has no public address: it works only with `allowLocal`. */
  isAddressRefused: z.optional(z.boolean()),
  /** What it waits for or why it was lifted, for the user; '' while it is active. */
  reason: text(512),
});

export type PinState = z.infer<typeof pinStateSchema>;
