/**
 * Every message between the extension and the native host, in both directions. The only code the
 * two share: it imports nothing of either room. Both sides parse what they receive with these
 * schemas before they look at it.
 */
import * as z from 'zod/mini';

/** Raised when a message changes its meaning; host and extension compare it in `hello`. */
export const MESSAGE_VERSION = 1;

/** Name under which the host is registered with browsers. */
export const HOST_NAME = 'org.hopwise.host';

/** Chromium drops the port of a host that sends a longer message. */
export const MAX_MESSAGE_TO_BROWSER_BYTES = 1024 * 1024;

/** Chromium's id of the extension, fixed by the key in its manifest. */
export const EXTENSION_ID = 'ndccfkpfonmfcfpmfaeeebeikhchicfa';

/** Firefox's id of the extension, as in its manifest. */
export const FIREFOX_EXTENSION_ID = 'hopwise@hopwise.org';

/** HTTP/1.1, HTTP/2 and HTTP/3, in the order in which rounds begin. */
export const PROTOCOLS = ['h1', 'h2', 'h3'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

const protocol = z.enum(PROTOCOLS);
const nonNegative = z.number().check(z.nonnegative());
const count = z.int().check(z.nonnegative());
const text = (max: number) => z.string().check(z.maxLength(max));
const requestId = z.string().check(z.minLength(1), z.maxLength(64));
const httpsUrl = z.string().check(z.maxLength(8192), z.regex(/^https:\/\//));

/** One GET of a transfer plan. */
const plannedTransfer = z.object({
  url: httpsUrl,
  /** Indices into the plan, all lower than this one's own. */
  after: z.array(count).check(z.maxLength(64)),
  /** Milliseconds to wait once the last of `after` has ended: the browser's own work. */
  delayMs: nonNegative,
  /** RFC 9218 urgency, 0 to 7. */
  urgency: z.int().check(z.gte(0), z.lte(7)),
  incremental: z.boolean(),
  /** Value of `Accept`: servers answer by it. */
  accept: text(512),
  /** Expected response bytes, for the budget; 0 when not known. */
  bytes: count,
});

/** A page's resources in the order and with the waits of the page graph. */
const transferPlan = z.object({
  pageUrl: httpsUrl,
  userAgent: text(512),
  transfers: z.array(plannedTransfer).check(z.minLength(1), z.maxLength(5000)),
});

export const toHost = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hello'), id: requestId, version: z.int() }),
  z.object({
    type: z.literal('probe'),
    id: requestId,
    plan: transferPlan,
    protocols: z.array(protocol).check(z.minLength(1), z.maxLength(3)),
    rounds: z.int().check(z.gte(1), z.lte(20)),
    /** Most response bytes that the probe may transfer in all; it stops before it exceeds them. */
    budgetBytes: count,
  }),
  z.object({ type: z.literal('cancel'), id: requestId }),
]);

/** One resource of one round. Milliseconds after the round's start; null where it did not take place. */
const transferResult = z.object({
  /** Index into the plan. */
  index: count,
  /** What libcurl reports; null when no response came. */
  protocol: z.nullable(protocol),
  status: z.int(),
  bytes: count,
  startMs: nonNegative,
  dnsMs: z.nullable(nonNegative),
  connectMs: z.nullable(nonNegative),
  handshakeMs: z.nullable(nonNegative),
  firstByteMs: z.nullable(nonNegative),
  endMs: nonNegative,
  newConnection: z.boolean(),
  /** libcurl's words, '' on success. */
  error: text(512),
});

const probeRound = z.object({
  /** First request to last byte of what the load event waits for. */
  totalMs: nonNegative,
  bytes: count,
  failed: count,
  /** TCP_INFO of the round's connections: minimum RTT and loss events; null on HTTP/3. */
  minRttMs: z.nullable(nonNegative),
  lossEvents: z.nullable(count),
  segmentsIn: z.nullable(count),
  transfers: z.array(transferResult),
});

const verifiedProtocol = z.object({
  /** '' when the protocol carried the page; else why it did not, in words for a person. */
  unavailable: text(512),
  rounds: z.array(probeRound),
  medianMs: z.nullable(nonNegative),
  lowMs: z.nullable(nonNegative),
  highMs: z.nullable(nonNegative),
  /** Requests answered under this protocol, of all that were answered. */
  provedRequests: count,
  answeredRequests: count,
});

/** What real transfers of a page's resources showed. */
const verification = z.object({
  pageUrl: httpsUrl,
  engine: text(256),
  startedAt: text(32),
  protocols: z.partialRecord(protocol, verifiedProtocol),
  udp: z.enum(['open', 'blocked', 'unknown']),
  bytes: count,
  /** Why the probe ended before its last round, in words for a person; absent when it did not. */
  stopped: z.optional(text(512)),
});

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
    /** What is missing and how to mend it, '' when nothing is. */
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
  z.object({
    type: z.literal('error'),
    /** '' when the message that caused it had none. */
    id: text(64),
    code: errorCode,
    /** What went wrong and what was expected, one line. */
    message: text(1024),
  }),
]);

export { encodeVerification, joinVerification } from './verification-parts.ts';
export { transferPlan as transferPlanSchema, verification as verificationSchema };
export type ToHost = z.infer<typeof toHost>;
export type ToExtension = z.infer<typeof toExtension>;
export type TransferPlan = z.infer<typeof transferPlan>;
export type Verification = z.infer<typeof verification>;
export type VerifiedProtocol = z.infer<typeof verifiedProtocol>;
