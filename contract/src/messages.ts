/**
 * Every message between the extension and the native host, in both directions. Both sides parse what they receive with these
 * schemas before they look at it.
 */
import * as z from 'zod/mini';
import {
  MAX_CA_HOSTS,
  MAX_PINS,
  pinKindSchema as pinKind,
  pinMinutesSchema as pinMinutes,
  pinStateSchema as pinState,
} from './pins.ts';
import { count, originSchema as origin, protocolSchema as protocol, text } from './schemas.ts';
import { transferPlanSchema as transferPlan } from './transfer-plan.ts';

/** Raised when a message changes its meaning; host and extension compare it in `hello`. */
export const MESSAGE_VERSION = 3;

/** Chromium drops the port of a host that sends a longer message. */
export const MAX_MESSAGE_TO_BROWSER_BYTES = 1024 * 1024;

const requestId = z.string().check(z.minLength(1), z.maxLength(64));

export const toHost = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hello'), id: requestId, version: z.int() }),
  z.object({
    type: z.literal('probe'),
    id: requestId,
    plan: transferPlan,
    protocols: z.array(protocol).check(z.minLength(1), z.maxLength(3)),
    rounds: z.int().check(z.gte(1), z.lte(20)),
    /** Most response bytes that the probe may transfer in all; null for three times the page's. */
    budgetBytes: z.nullable(count),
  }),
  z.object({ type: z.literal('cancel'), id: requestId }),
  /** Answered by `pins` once the pin is in effect or waiting, or by `error`. It replaces the origin's former pin. */
  z.object({
    type: z.literal('pin'),
    id: requestId,
    origin,
    kind: pinKind,
    /** Until it ends by itself; null: it does not. */
    minutes: pinMinutes,
    /** Whether it outlives the session; otherwise it ends with the port. */
    persistent: z.boolean(),
  }),
  /** Answered by `pins`, also where the origin is not pinned. */
  z.object({ type: z.literal('unpin'), id: requestId, origin }),
  /** Answered by `pins`. The session's first message about pins brings back the persistent ones. */
  z.object({ type: z.literal('pins'), id: requestId }),
]);

export const errorCode = z.enum([
  'bad-message',
  'version',
  'no-engine',
  'engine-died',
  'busy',
  'budget',
  'cancelled',
  /** The server asked for restraint: 429 or 503. */
  'refused',
  /** A pin that cannot be had here: what is missing, and its fix. */
  'unavailable',
  /** More pins than `MAX_PINS`. */
  'too-many',
  'internal',
]);

export const toExtension = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('hello'),
    id: requestId,
    version: z.int(),
    hostVersion: text(32),
    /** libcurl's version line, '' when there is no usable libcurl. */
    engine: text(256),
    http3: z.boolean(),
    /** What is missing and how to fix it, '' when nothing is. */
    problem: text(1024),
  }),
  z.object({
    type: z.literal('probe-progress'),
    id: requestId,
    doneTransfers: count,
    allTransfers: count,
    protocol,
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
  /** All pins of the session. Sent in answer, and unasked on every other change. */
  z.object({
    type: z.literal('pins'),
    /** '' when unasked. */
    id: text(64),
    /** Of the proxy on 127.0.0.1 that pins lead through; 0 while all are lifted. */
    port: z.int().check(z.gte(0), z.lte(65_535)),
    /** The password that the proxy asks for (Basic, whatever the user name): 32 random bytes in base64url, of this session. */
    secret: z.string().check(z.regex(/^[A-Za-z0-9_-]{43}$/)),
    /**
     * How often the browser may have given the proxy up, which Chromium does after a connection that failed through it and
     * not without it. Whenever this rises, the proxy settings have to be set anew, though nothing else has changed.
     */
    resets: count,
    /** Hosts that the local CA can vouch for: only these can be pinned to a protocol. */
    vouched: z.array(text(253)).check(z.maxLength(MAX_CA_HOSTS)),
    /** Hosts whose pins wait for the browser to ask for their `TRUST_TRIAL_PORT` through the proxy. */
    trials: z.array(text(253)).check(z.maxLength(MAX_CA_HOSTS)),
    pins: z.array(pinState).check(z.maxLength(MAX_PINS)),
  }),
  z.object({
    type: z.literal('error'),
    /** '' when the message that caused it had none. */
    id: text(64),
    code: errorCode,
    /** What went wrong and what was expected, one line. */
    message: text(1024),
  }),
]);

export type ToHost = z.infer<typeof toHost>;
export type ToExtension = z.infer<typeof toExtension>;
