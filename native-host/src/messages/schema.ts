/**
 * Every message between the extension and the native host, in both directions. The only code the
 * two share: it imports nothing of either room. Both sides parse what they receive with these
 * schemas before they look at it.
 */
import * as z from 'zod/mini';

/** Raised when a message changes its meaning; host and extension compare it in `hello`. */
export const MESSAGE_VERSION = 3;

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

const protocol = z.enum(PROTOCOLS);
const nonNegative = z.number().check(z.nonnegative());
const count = z.int().check(z.nonnegative());
const text = (max: number) => z.string().check(z.maxLength(max));
const requestId = z.string().check(z.minLength(1), z.maxLength(64));
const httpsUrl = z.string().check(z.maxLength(8192), z.regex(/^https:\/\//));

/** Of browsers and of Node alike. */
declare const URL: {
  canParse(text: string): boolean;
  new (text: string): { origin: string; protocol: string };
};

/** `https://` with the longest name of DNS in its text form (RFC 1035, section 2.3.4), a colon and a port. */
const MAX_ORIGIN_LENGTH = 'https://'.length + 254 + ':65535'.length;

/** `https://host[:port]` as `URL.origin` writes it: one origin has one text. */
const origin = z.string().check(
  z.maxLength(MAX_ORIGIN_LENGTH),
  z.refine((text) => {
    if (!URL.canParse(text)) return false;
    const url = new URL(text);
    return url.protocol === 'https:' && url.origin === text;
  }, 'expected an origin such as https://example.org'),
);
const pinKind = z.enum(PIN_KINDS);
const pinMinutes = z.nullable(z.int().check(z.gte(1), z.lte(MAX_PIN_MINUTES)));

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
  /**
   * TCP_INFO of the round's connections; null on HTTP/3, of whose connections libcurl tells nothing. Minimum RTT, holes in what
   * arrived, segments with data that arrived, segments that had to be sent again.
   */
  minRttMs: z.nullable(nonNegative),
  lossEvents: z.nullable(count),
  segmentsIn: z.nullable(count),
  retransmitted: z.nullable(count),
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

/** An offer of HTTP/3 in an `Alt-Svc` field (RFC 7838). */
const altSvcOffer = z.object({
  /** '' for the origin's own host. */
  host: text(256),
  port: z.int().check(z.gte(1), z.lte(65_535)),
  maxAgeS: count,
});

/** An origin's HTTPS record (RFC 9460): of several the one that offers HTTP/3, else the most preferred. */
const httpsRecord = z.object({
  /** `unknown`: nobody answered, or not in time. */
  state: z.enum(['present', 'absent', 'unknown']),
  alpn: z.array(text(32)).check(z.maxLength(32)),
  /** null for the URL's. */
  port: z.nullable(z.int().check(z.gte(0), z.lte(65_535))),
  /** '' for the origin's own host. */
  target: text(256),
  /** Whether it has keys for an encrypted ClientHello. */
  ech: z.boolean(),
  /** Why it is unknown, '' when it is not. */
  detail: text(256),
});

/** What the TCP connections to an origin went through in all rounds, by TCP_INFO. */
const tcpFigures = z.object({
  connections: count,
  minRttMs: nonNegative,
  /** Median of the smoothed round trips at the connections' ends: queues included. */
  rttMs: z.nullable(nonNegative),
  /** Segments with data, each way. */
  segmentsIn: count,
  segmentsOut: count,
  /** Holes in what arrived: losses in one flight are one. */
  lossEvents: count,
  /** Segments that had to be sent again. */
  retransmitted: count,
  /** Highest rate at which what was sent was acknowledged, bits per second; null where too little was sent to tell. */
  sendingBps: z.nullable(nonNegative),
});

/** What can be known of QUIC connections: libcurl hands out neither their round trips nor their losses. */
const quicFigures = z.object({
  connections: count,
  /** Shortest handshake, which takes at least one round trip. */
  rttAtMostMs: nonNegative,
});

const verifiedOrigin = z.object({
  /** Of a URL of the plan, whatever its length. */
  origin: text(8192),
  /** Why it cannot be reached over TCP, '' when it can. */
  unreachable: text(512),
  h3Offered: z.object({ altSvc: z.array(altSvcOffer).check(z.maxLength(8)), httpsRecord }),
  /** What it answered under when asked: null where it was not. */
  speaks: z.object({ h2: z.nullable(z.boolean()), h3: z.nullable(z.boolean()) }),
  tcp: z.nullable(tcpFigures),
  quic: z.nullable(quicFigures),
});

/** What the path does to UDP, judged by HTTP/3 against HTTP/2 on the same responses of the same origins. */
const udpVerdict = z.object({
  verdict: z.enum(['open', 'blocked', 'policed', 'unknown']),
  /** The verdict's reason, one line for a person. */
  reason: text(512),
  /** Whether a QUIC connection came about; null where none was tried. */
  answered: z.nullable(z.boolean()),
  /** Median goodput while responses were awaited or arrived, bits per second; null where it was not compared. */
  quicBps: z.nullable(nonNegative),
  tcpBps: z.nullable(nonNegative),
  /** QUIC's rate over TCP's: geometric mean of the rounds with its 95% interval. */
  ratio: z.nullable(z.object({ low: nonNegative, mean: nonNegative, high: nonNegative })),
  /** Pairs of rounds that were compared, and the response bytes of each round that were. */
  pairs: count,
  bytes: count,
});

/** What real transfers of a page's resources showed. */
const verification = z.object({
  pageUrl: httpsUrl,
  engine: text(256),
  startedAt: text(32),
  protocols: z.partialRecord(protocol, verifiedProtocol),
  /** In order of first use. */
  origins: z.array(verifiedOrigin),
  udp: udpVerdict,
  bytes: count,
  /** What `bytes` had to stay within. */
  budgetBytes: count,
  /** Resources that were left out of every round to stay within it. */
  leftOut: count,
  /** Why the probe ended before its last round, in words for a person; absent when it did not. */
  stopped: z.optional(text(512)),
});

const pinState = z.object({
  origin,
  kind: pinKind,
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
  /** A pin that cannot be had here: what is missing, and its mend. */
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

export { isAskedWithoutProxy } from './this-machine.ts';
export { encodeVerification, joinVerification } from './verification-parts.ts';
export {
  origin as originSchema,
  pinKind as pinKindSchema,
  pinMinutes as pinMinutesSchema,
  pinState as pinStateSchema,
  transferPlan as transferPlanSchema,
  verification as verificationSchema,
};
export type ToHost = z.infer<typeof toHost>;
export type ToExtension = z.infer<typeof toExtension>;
export type TransferPlan = z.infer<typeof transferPlan>;
export type PinState = z.infer<typeof pinState>;
export type Verification = z.infer<typeof verification>;
export type VerifiedOrigin = z.infer<typeof verifiedOrigin>;
export type UdpVerdict = z.infer<typeof udpVerdict>;
export type VerifiedProtocol = z.infer<typeof verifiedProtocol>;
