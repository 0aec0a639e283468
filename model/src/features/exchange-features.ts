import type { MeasuredExchange } from '@hopwise/contract';
import { type Feature, FeatureWindow, type LoggedRequest } from './window-features.ts';

/** Length of the record window, in which round trips and first bytes are averaged (WiseTrans, section 4.5.2), milliseconds. */
const RECORD_WINDOW_MS = 30_000;

/** TCP or QUIC: what an exchange went over. */
export const transportOf = ({ protocol }: Pick<MeasuredExchange, 'protocol'>): LoggedRequest['protocol'] =>
  protocol === 'h3' ? 'quic' : 'tcp';

/**
 * The features of an origin's exchanges, as the helper measures them, at each of them; as `model/python/hopwise_model/exchanges.py`.
 *
 * A client sees losses as segments that arrive out of order, behind a gap, and neither round trips nor losses of QUIC: they are missing
 * there. Goodputs are bytes of the body per millisecond: from the first to the last byte of the response, and from the request to the
 * last byte.
 */
export class ExchangeFeatures {
  readonly #transports = { tcp: new TransportWindows(), quic: new TransportWindows() };

  /**
   * Adds an exchange that succeeded.
   *
   * @param exchange not older than those before it
   * @returns a value for each of `FEATURES`, float32, of the exchanges over its transport; NaN where missing
   */
  add(exchange: MeasuredExchange): Float32Array {
    return this.#transports[transportOf(exchange)].add(exchange);
  }
}

class TransportWindows {
  readonly #roundTrips = new RecordWindow();
  readonly #firstBytes = new RecordWindow();
  readonly #recognition = new FeatureWindow();

  add(exchange: MeasuredExchange): Float32Array {
    const timeS = exchange.endedAtMs / 1000;
    return this.#recognition.add({
      timeS,
      protocol: transportOf(exchange),
      figures: this.#figuresOf(exchange),
    });
  }

  #figuresOf({
    endedAtMs,
    ttfbMs,
    completionMs,
    bodyBytes,
    tcp,
  }: MeasuredExchange): LoggedRequest['figures'] {
    const figures: Partial<Record<Feature, number>> = {};
    if (tcp && tcp.segments > 0) figures.retransmission_rate = tcp.outOfOrder / tcp.segments;
    const meanRttMs = this.#roundTrips.add(endedAtMs, tcp?.rttMs ?? null);
    if (meanRttMs !== null) figures.mean_rtt_ms = meanRttMs;
    const meanTtfbMs = this.#firstBytes.add(endedAtMs, ttfbMs)!;
    figures.ttfb_ms = ttfbMs;
    figures.mean_ttfb_ms = meanTtfbMs;
    if (meanTtfbMs > 0) figures.ttfb_ratio = ttfbMs / meanTtfbMs;
    // A response that arrives at once has no measurable rate.
    if (bodyBytes > 0 && completionMs > ttfbMs)
      figures.response_goodput = bodyBytes / (completionMs - ttfbMs);
    if (bodyBytes > 0 && completionMs > 0) figures.completion_goodput = bodyBytes / completionMs;
    return figures;
  }
}

/** What the latest requests measured. */
class RecordWindow {
  #values: { endedAtMs: number; value: number }[] = [];

  /** @param value null where it was not measured @returns the mean of the values in the window that ends now; null without any */
  add(endedAtMs: number, value: number | null): number | null {
    if (value !== null) this.#values.push({ endedAtMs, value });
    this.#values = this.#values.filter((each) => each.endedAtMs >= endedAtMs - RECORD_WINDOW_MS);
    if (this.#values.length === 0) return null;
    return this.#values.reduce((sum, each) => sum + each.value, 0) / this.#values.length;
  }
}
