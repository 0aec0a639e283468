/**
 * Every message between the extension and the native host, in both directions. Both sides validate what they receive with these
 * schemas before they use it. They are built when they are used first: most loads that wake the extension's worker exchange none.
 */
import * as z from 'zod/mini';
import { MAX_MEASURED_EXCHANGES, measuredExchangeSchema } from './measured-exchange.ts';
import {
  MAX_CA_HOSTS,
  MAX_EXCEPTIONS,
  MAX_PINS,
  MAX_PROXY_PORTS,
  pinKindSchema as pinKind,
  pinMinutesSchema as pinMinutes,
  pinStateSchema as pinState,
} from './pins.ts';
import { count, originSchema as origin, protocolSchema as protocol, text } from './schemas.ts';
import {
  MAX_ASSIGNMENTS,
  plannedAssignmentSchema,
  transferPlanSchema as transferPlan,
} from './transfer-plan.ts';

/** To be raised when a message changes its meaning; host and extension compare it in `hello`. */
export const MESSAGE_VERSION = 7;

/** Chromium closes the port of a host that sends a longer message. */
export const MAX_MESSAGE_TO_BROWSER_BYTES = 1024 * 1024;

/** Absolute path of the launcher that runs the helper, for commands that the user copies. */
const launcher = text(4096);

/** 132 bits in base64url. */
export const networkKeySchema = z.string().check(z.regex(/^[A-Za-z0-9_-]{22}$/));

const proxyPort = z.int().check(z.gte(1), z.lte(65_535));

const requestId = z.string().check(z.minLength(1), z.maxLength(64));

export const toHost = z.lazy(() =>
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('hello'), id: requestId, version: z.int() }),
    z.object({
      type: z.literal('probe'),
      id: requestId,
      plan: transferPlan,
      protocols: z.array(protocol).check(z.minLength(1), z.maxLength(3)),
      /** Transferred in rounds of their own. Helpers that do not know this property ignore it. */
      assignments: z.optional(z.array(plannedAssignmentSchema).check(z.maxLength(MAX_ASSIGNMENTS))),
      rounds: z.int().check(z.gte(1), z.lte(20)),
      /** Maximum response bytes of the probe in all; null for the page's bytes once for each kind of round, and at least three times. */
      budgetBytes: z.nullable(count),
      /** Whether public addresses alone may be reached, as where no person has asked for the transfers. Helpers that do not know this property ignore it. */
      publicOnly: z.optional(z.boolean()),
    }),
    z.object({ type: z.literal('cancel'), id: requestId }),
    /** Answered by `doctor`. Older helpers refuse it with `bad-message`. */
    z.object({ type: z.literal('doctor'), id: requestId }),
    /** Answered by `network`. Older helpers refuse it with `bad-message`. */
    z.object({ type: z.literal('network'), id: requestId }),
    /** Answered by `pong` at once: a helper that hangs does not answer. */
    z.object({ type: z.literal('ping'), id: requestId }),
    /** Answered by `pins` once the pin is in effect or waiting, or by `error`. It replaces the origin's former pin. */
    z.object({
      type: z.literal('pin'),
      id: requestId,
      origin,
      kind: pinKind,
      /** Lifetime; null for a pin without expiry. */
      minutes: pinMinutes,
      /** Whether it outlives the session; otherwise it ends with the port. */
      persistent: z.boolean(),
      /** Whether it may lead to addresses that are not public; otherwise it is lifted when the origin has none. */
      allowLocal: z.optional(z.boolean()),
    }),
    /** Answered by `pins`, also when the origin is not pinned. */
    z.object({ type: z.literal('unpin'), id: requestId, origin }),
    /** Answered by `pins`, or by `error` with `unavailable` where the origin has no `auto` pin, or has refused the protocol. */
    z.object({ type: z.literal('steer'), id: requestId, origin, protocol }),
    /** Answered by `pins`. The session's first message about pins restores the stored ones. */
    z.object({ type: z.literal('pins'), id: requestId }),
  ]),
);

/** One check of everything that the helper needs. */
const helperCheckSchema = z.object({
  name: text(64),
  ok: z.boolean(),
  /** What was found. */
  detail: text(1024),
  /** What to do; '' when nothing is. */
  fix: text(1024),
});

export type HelperCheck = z.infer<typeof helperCheckSchema>;

export const errorCode = z.enum([
  'bad-message',
  'version',
  'no-engine',
  'engine-died',
  'busy',
  'budget',
  'cancelled',
  /** The server asked for fewer requests: 429 or 503. */
  'refused',
  /** A pin that is not possible here; the message says what is missing, and the fix. */
  'unavailable',
  /** More pins than `MAX_PINS`. */
  'too-many',
  'internal',
]);

export const toExtension = z.lazy(() =>
  z.discriminatedUnion('type', [
    z.object({
      type: z.literal('hello'),
      id: requestId,
      version: z.int(),
      hostVersion: text(32),
      launcher,
      /** libcurl's version line, '' when there is no usable libcurl. */
      engine: text(256),
      http3: z.boolean(),
      /** What is missing and how to fix it, '' for nothing. */
      problem: text(1024),
    }),
    z.object({
      type: z.literal('probe-progress'),
      id: requestId,
      doneTransfers: count,
      allTransfers: count,
      /** null in rounds by an assignment, which only probes with assignments have. */
      protocol: z.nullable(protocol),
      round: count,
    }),
    /** A verification may exceed one message: parts are joined in order of `part`. */
    z.object({
      type: z.literal('probe-result'),
      id: requestId,
      part: count,
      parts: count,
      /** A slice of the JSON text of a `Verification`. */
      json: z.string(),
    }),
    z.object({ type: z.literal('pong'), id: requestId }),
    z.object({
      type: z.literal('network'),
      id: requestId,
      /** Equal for the same network, for this helper; null when the network cannot be recognised now. */
      key: z.nullable(networkKeySchema),
    }),
    z.object({
      type: z.literal('doctor'),
      id: requestId,
      checks: z.array(helperCheckSchema).check(z.maxLength(64)),
    }),
    /** All pins of the session. Sent in answer to requests, and unsolicited on every other change. */
    z.object({
      type: z.literal('pins'),
      /** '' when unsolicited. */
      id: text(64),
      /** Port of the pins' proxy on 127.0.0.1; 0 while no pin is in effect. */
      port: z.int().check(z.gte(0), z.lte(65_535)),
      /**
       * How often the browser may have disabled the proxy, which Chromium does after a connection failed through it and succeeded
       * without it. Whenever this rises, the proxy settings have to be applied again, even if nothing else has changed.
       */
      resets: count,
      /** Hosts that the local CA may sign for: only these can be pinned to a protocol. */
      caHosts: z.array(text(253)).check(z.maxLength(MAX_CA_HOSTS)),
      launcher,
      /** Hosts whose pins wait for the browser's request to their `TRUST_TRIAL_PORT` through the proxy. */
      trials: z.array(text(253)).check(z.maxLength(MAX_CA_HOSTS)),
      /** Path of that request, behind the slash: 16 random bytes in base64url. */
      trialToken: z.string().check(z.regex(/^[A-Za-z0-9_-]{22}$/)),
      pins: z.array(pinState).check(z.maxLength(MAX_PINS)),
      /** While a pin of `EVERY_ORIGIN` is in effect. Older helpers take such a pin for one of a single origin, and leave this out. */
      everyOrigin: z.optional(
        z.object({
          /** Further ports of the proxy, to which the origins without a pin of their own are spread. */
          ports: z.array(proxyPort).check(z.minLength(1), z.maxLength(MAX_PROXY_PORTS)),
          /** Origins that the proxy cannot reach, and the browser perhaps can: it must connect directly. */
          exceptions: z.array(origin).check(z.maxLength(MAX_EXCEPTIONS)),
        }),
      ),
    }),
    /** What requests to an origin with an `auto` pin have shown since the last such message. Sent while there are any, every 2 s at most. */
    z.object({
      type: z.literal('exchanges'),
      origin,
      exchanges: z.array(measuredExchangeSchema).check(z.minLength(1), z.maxLength(MAX_MEASURED_EXCHANGES)),
    }),
    z.object({
      type: z.literal('error'),
      /** '' when the message that caused the error had none. */
      id: text(64),
      code: errorCode,
      /** What went wrong and what was expected, one line. */
      message: text(1024),
    }),
  ]),
);

export type ToHost = z.infer<typeof toHost>;
export type ToExtension = z.infer<typeof toExtension>;
