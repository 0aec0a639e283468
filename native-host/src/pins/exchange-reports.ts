import { MAX_MEASURED_EXCHANGES, type MeasuredExchange } from '@hopwise/contract';

/** The least time between two reports on one origin, milliseconds. */
const PERIOD_MS = 2_000;

/** Collects what exchanges show, and passes it on by origin: while requests flow, and not more often than the period. */
export class ExchangeReports {
  readonly #onReport: (origin: string, exchanges: MeasuredExchange[]) => void;
  readonly #waiting = new Map<string, MeasuredExchange[]>();
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(onReport: (origin: string, exchanges: MeasuredExchange[]) => void) {
    this.#onReport = onReport;
  }

  /** Older ones than a report may have are left out. */
  add(origin: string, exchange: MeasuredExchange): void {
    const waiting = this.#waiting.get(origin) ?? [];
    waiting.push(exchange);
    if (waiting.length > MAX_MEASURED_EXCHANGES) waiting.shift();
    this.#waiting.set(origin, waiting);
    if (!this.#timers.has(origin)) this.#timers.set(origin, this.#reportLater(origin));
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#waiting.clear();
  }

  #reportLater(origin: string): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#timers.delete(origin);
      const exchanges = this.#waiting.get(origin);
      this.#waiting.delete(origin);
      if (exchanges) this.#onReport(origin, exchanges);
    }, PERIOD_MS);
    return timer.unref();
  }
}
