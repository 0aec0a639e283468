import { median } from '@hopwise/contract';

/** A request as the helper timed it. */
export interface TimedRequest {
  /** When its response had arrived, milliseconds since 1970. */
  endedAtMs: number;
  transport: 'tcp' | 'quic';
  /** From the time that the request went out to the first and to the last byte of its response, milliseconds. */
  ttfbMs: number;
  completionMs: number;
  bodyBytes: number;
}

/** What a request took, and what one of its size usually takes, milliseconds. */
export interface RequestCost {
  tookMs: number;
  usualMs: number;
}

/** Requests whose times make the usual ones. */
const MEMORY = 200;
/** Smaller responses show no rate. */
const MIN_RATE_BYTES = 10_000;

/**
 * What requests take beside what ones of their sizes usually take from this origin, whatever the transport, so that small responses and
 * large ones can be compared.
 */
export class RequestCosts {
  #firstBytes: number[] = [];
  /** Milliseconds a byte. */
  #paces: number[] = [];
  /** Medians of these; null until they are needed. */
  #usual: { firstByteMs: number; pace: number } | null = null;

  add({ ttfbMs, completionMs, bodyBytes }: TimedRequest): void {
    this.#usual = null;
    this.#firstBytes = [...this.#firstBytes, ttfbMs].slice(-MEMORY);
    if (bodyBytes >= MIN_RATE_BYTES)
      this.#paces = [...this.#paces, (completionMs - ttfbMs) / bodyBytes].slice(-MEMORY);
  }

  /** The costs of requests, by all that were added so far. */
  listCosts(requests: readonly TimedRequest[]): RequestCost[] {
    this.#usual ??= {
      firstByteMs: median(this.#firstBytes),
      pace: this.#paces.length === 0 ? 0 : median(this.#paces),
    };
    const { firstByteMs, pace } = this.#usual;
    return requests.map(({ completionMs, bodyBytes }) => ({
      tookMs: completionMs,
      usualMs: firstByteMs + pace * bodyBytes,
    }));
  }
}
