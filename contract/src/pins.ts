import * as z from 'zod/mini';
import { PROTOCOLS } from './protocol.ts';
import { count, originSchema, text } from './schemas.ts';

/** HTTP/3 kept away by a blind tunnel, or one protocol by a proxy that terminates TLS. */
export const PIN_KINDS = ['avoid-h3', ...PROTOCOLS] as const;

export type PinKind = (typeof PIN_KINDS)[number];

/** The longest time of a pin that ends by itself, minutes: 30 days. */
export const MAX_PIN_MINUTES = 43_200;

/** Origins that can be pinned at a time. */
export const MAX_PINS = 200;

/**
 * Whoever asks for `https://host:49151/` through the proxy while a pin of the host waits for it is answered with a certificate of the
 * local CA and status 204: a browser that takes this for an error does not trust the CA. IANA keeps the port free (RFC 6335).
 */
export const TRUST_TRIAL_PORT = 49_151;

/** Hosts that one local CA can vouch for: every one adds to the certificate that the browser keeps. */
export const MAX_CA_HOSTS = 100;

export const pinKindSchema = z.enum(PIN_KINDS);
export const pinMinutesSchema = z.nullable(z.int().check(z.gte(1), z.lte(MAX_PIN_MINUTES)));

export const pinStateSchema = z.object({
  origin: originSchema,
  kind: pinKindSchema,
  /** Milliseconds since 1970; null where it does not end by itself. */
  expiresAtMs: z.nullable(count),
  persistent: z.boolean(),
  /**
   * A waiting pin leaves connections as they are until it is known that it can be held. A lifted one has no effect any more; it is
   * told of until it is replaced or unpinned.
   */
  state: z.enum(['waiting', 'active', 'lifted']),
  /** What it waits for or why it was lifted, in words for a person; '' while it is active. */
  reason: text(512),
});

export type PinState = z.infer<typeof pinStateSchema>;
