/** The seven features of WiseTrans's Table 1, averaged over the recognition window (its Figure 5); as `model/python/hopwise_model/features.py`. */

/** Names of the features, in the order of the models' inputs. */
export const FEATURES = [
  'retransmission_rate',
  'mean_rtt_ms',
  'response_goodput',
  'mean_ttfb_ms',
  'ttfb_ms',
  'ttfb_ratio',
  'completion_goodput',
] as const;
export type Feature = (typeof FEATURES)[number];

/** These span several orders of magnitude between requests: their geometric mean is stable, their mean is not. */
const GEOMETRIC: ReadonlySet<Feature> = new Set(['response_goodput', 'ttfb_ms', 'completion_goodput']);
const MIN_GEOMETRIC = 0.01;

/** Length of the recognition window, seconds. */
const RECOGNITION_WINDOW_S = 30;

/** A request as a client saw it. */
export interface LoggedRequest {
  /** When its answer was complete, seconds. */
  timeS: number;
  protocol: 'tcp' | 'quic';
  /** Its own figures; what was not seen, such as retransmissions in a browser, is absent. */
  figures: Partial<Record<Feature, number>>;
}

/**
 * The requests of one protocol in the window. Each feature is the mean over those that are not newer than the latest and at most
 * `RECOGNITION_WINDOW_S` older, the latest included; NaN where none of them has the figure.
 */
export class FeatureWindow {
  readonly #requests: LoggedRequest[] = [];

  /** Adds the latest request, and returns a value for each of `FEATURES`, float32. */
  add(request: LoggedRequest): Float32Array {
    this.#requests.push(request);
    while (this.#requests[0]!.timeS < request.timeS - RECOGNITION_WINDOW_S) this.#requests.shift();
    return Float32Array.from(FEATURES, (feature) => this.#mean(feature));
  }

  #mean(feature: Feature): number {
    const isGeometric = GEOMETRIC.has(feature);
    let sum = 0;
    let count = 0;
    for (const { figures } of this.#requests) {
      const value = figures[feature];
      if (value === undefined || Number.isNaN(value)) continue;
      sum += isGeometric ? Math.log(Math.max(value, MIN_GEOMETRIC)) : value;
      count++;
    }
    if (count === 0) return Number.NaN;
    return isGeometric ? Math.exp(sum / count) : sum / count;
  }
}
