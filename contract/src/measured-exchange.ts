import * as z from 'zod/mini';
import { count, nonNegative, protocolSchema } from './schemas.ts';

/** Maximum number of exchanges in one message: the newest ones. */
export const MAX_MEASURED_EXCHANGES = 64;

/** An exchange of an origin with an `auto` pin, as the helper measured it. */
export const measuredExchangeSchema = z.object({
  /** When its response had arrived, milliseconds since 1970. */
  endedAtMs: count,
  protocol: protocolSchema,
  status: z.int().check(z.gte(100), z.lte(999)),
  /** From the time that the request went out to the first and to the last byte of its response, milliseconds. */
  ttfbMs: nonNegative,
  completionMs: nonNegative,
  bodyBytes: count,
  /** Whether its connection was open before. */
  isReused: z.boolean(),
  /** Its TCP connection since the exchange before on it; null over QUIC, and where the system does not say. */
  tcp: z.nullable(
    z.object({
      /** Smoothed round trip, milliseconds; null before the first sample. */
      rttMs: z.nullable(nonNegative),
      /** Segments with data that were received, and those among them that arrived out of order: behind a loss. */
      segments: count,
      outOfOrder: count,
    }),
  ),
});

export type MeasuredExchange = z.infer<typeof measuredExchangeSchema>;
