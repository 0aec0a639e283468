import * as z from 'zod/mini';
import { PROTOCOLS } from './protocol.ts';
import { count, originSchema, protocolSchema, text } from './schemas.ts';

/**
 * `avoid-h3` keeps HTTP/3 away by a tunnel; a protocol is enforced by a proxy that terminates TLS; under `auto` that proxy sends each request
 * under the protocol that the extension has steered the origin to last.
 */
export const PIN_KINDS = ['avoid-h3', ...PROTOCOLS, 'auto'] as const;

export type PinKind = (typeof PIN_KINDS)[number];

/**
 * What a pin may wait for: that the browser requests the origin through a proxy, that it has shown trust in the local CA, or that the origin
 * has answered over the pin's protocol.
 */
const PIN_WAITS = ['proxy', 'trust', 'answer'] as const;

export type PinWait = (typeof PIN_WAITS)[number];

/** The longest lifetime of a pin with an expiry, minutes: 30 days. */
export const MAX_PIN_MINUTES = 43_200;

/** Maximum number of pinned origins. */
export const MAX_PINS = 200;

/**
 * In place of a pin's origin: all https origins at public addresses that have no pin of their own. Such a pin is `avoid-h3` and lasts for
 * one session at most, as it is for the network that the browser is on. No server can have this name (RFC 6761, section 6.4), which every
 * browser and Node serialise alike.
 */
export const EVERY_ORIGIN = 'https://every-origin.invalid';

/** Maximum number of origins that a pin of `EVERY_ORIGIN` leaves to the browser because the helper cannot reach them. */
export const MAX_EXCEPTIONS = 200;

/**
 * Maximum number of ports of the proxy for a pin of `EVERY_ORIGIN`. Browsers open 32 connections to each proxy, and 256 without one:
 * so many are needed by people with many tabs.
 */
export const MAX_PROXY_PORTS = 8;

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
  /** The protocol of an `auto` pin's next requests. */
  protocol: z.optional(protocolSchema),
  /** Whether it may lead to addresses that are not public. */
  allowLocal: z.optional(z.boolean()),
  /**
   * A `waiting` pin does not affect connections until it is known to work. A `lifted` one has no effect any more, and is
   * listed until it is replaced or unpinned.
   */
  state: z.enum(['waiting', 'active', 'lifted']),
  /** What a `waiting` pin waits for; older helpers leave it out. */
  waitsFor: z.optional(z.enum(PIN_WAITS)),
  /** Whether it was lifted because the origin has no public address: it works only with `allowLocal`. */
  isAddressRefused: z.optional(z.boolean()),
  /** What it waits for or why it was lifted, for the user; '' while it is active. */
  reason: text(512),
});

export type PinState = z.infer<typeof pinStateSchema>;
