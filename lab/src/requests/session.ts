/** A session: one origin's requests through the helper's proxy, as the command orders it and as its client answers. */
import { measuredExchangeSchema } from '@hopwise/contract';
import * as z from 'zod';

export const TRANSPORTS = ['tcp', 'quic'] as const;
export type SessionTransport = (typeof TRANSPORTS)[number];

/** What an `auto` pin is steered to for a transport. */
export const STEERED = { tcp: 'h2', quic: 'h3' } as const satisfies Record<SessionTransport, 'h2' | 'h3'>;

const index = z.int().nonnegative();

export const sessionOrderSchema = z.strictObject({
  /** `https://host`. */
  origin: z.string(),
  transport: z.enum(TRANSPORTS),
  /** Made in this order, at most `parallel` at once; each waits for the one that it follows. */
  requests: z.array(z.strictObject({ path: z.string().startsWith('/'), after: z.nullable(index) })),
  parallel: z.int().positive(),
  /** The request before which the network changes; null where it does not. */
  changesBefore: z.nullable(index),
  /** No request begins later than this, milliseconds. */
  limitMs: z.number().positive(),
});

export type SessionOrder = z.infer<typeof sessionOrderSchema>;

/** A request as the client, which stands for the browser, timed it. Times are milliseconds since the session's first request. */
const timedRequestSchema = z.strictObject({
  /** Number in the order. */
  index,
  startedMs: z.number(),
  /** Until its last byte, with retries of the helper. */
  tookMs: z.number(),
  /** 0 where it failed. */
  status: z.int(),
  bytes: index,
});

const sessionResultSchema = z.strictObject({
  /** Why the helper did not take the transport; '' where it did. */
  refusal: z.string(),
  /** When the first request began, milliseconds since 1970. */
  beganAtMs: z.number(),
  requests: z.array(timedRequestSchema),
  /** As the helper reported them. */
  exchanges: z.array(measuredExchangeSchema),
});

export type SessionResult = z.infer<typeof sessionResultSchema>;

/** What the client writes, a line each. */
export const clientLineSchema = z.union([
  /** The order's `changesBefore` is reached: the client waits for a line. */
  z.strictObject({ changes: z.literal(true) }),
  z.strictObject({ result: sessionResultSchema }),
  z.strictObject({ error: z.string() }),
]);
