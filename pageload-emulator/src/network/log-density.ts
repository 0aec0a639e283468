/** Median with the 10th and 90th percentile. */
export interface Interval {
  low: number;
  median: number;
  high: number;
}

/**
 * A probability distribution of a positive figure over cells of equal width in its logarithm, for figures known to a
 * factor: rates, round trips, loss.
 */
export class LogDensity {
  /** Midpoints of the cells, ascending. */
  readonly values: Float64Array;
  /** Probability of each cell; they sum to 1. */
  readonly weights: Float64Array;
  /** Width of a cell in the natural logarithm. */
  readonly #step: number;

  /**
   * @param values midpoints of cells, equally far apart in the logarithm; at least 2
   * @param logWeights natural logarithms of the weights, up to a constant
   */
  constructor(values: Float64Array, logWeights: ArrayLike<number>) {
    this.values = values;
    this.weights = normalised(logWeights);
    this.#step = Math.log(values[1]! / values[0]!);
  }

  /** Log-normal over a grid; `spread` is the standard deviation of the natural logarithm. */
  static logNormal(values: Float64Array, median: number, spread: number): LogDensity {
    return new LogDensity(
      values,
      values.map((value) => logNormal(value, median, spread)),
    );
  }

  /** Weighted sum of densities over the same grid; the weights need not sum to 1. */
  static mixture(densities: readonly LogDensity[], weights: ArrayLike<number>): LogDensity {
    const { values } = densities[0]!;
    return new LogDensity(
      values,
      values.map((_, at) =>
        Math.log(densities.reduce((sum, density, index) => sum + weights[index]! * density.weights[at]!, 0)),
      ),
    );
  }

  /** Posterior by Bayes' rule with this as the prior. */
  given(logLikelihood: (value: number) => number): LogDensity {
    return new LogDensity(
      this.values,
      this.values.map((value, index) => Math.log(this.weights[index]!) + logLikelihood(value)),
    );
  }

  /** This, given that the figure is at least `bound`. */
  atLeast(bound: number): LogDensity {
    return this.given((value) => (value < bound ? Number.NEGATIVE_INFINITY : 0));
  }

  /** This, given that the figure is at most `bound`. */
  atMost(bound: number): LogDensity {
    return this.given((value) => (value > bound ? Number.NEGATIVE_INFINITY : 0));
  }

  /** Normalised product with another density over the same grid. */
  times(other: LogDensity): LogDensity {
    return new LogDensity(
      this.values,
      this.values.map((_, index) => Math.log(this.weights[index]!) + Math.log(other.weights[index]!)),
    );
  }

  /**
   * Geometric pool (weighted product) of this and another density.
   *
   * @param logDensity of the other density, over the logarithm, up to a constant
   * @param weight of the other density, 0 to 1
   */
  pooledWith(logDensity: (value: number) => number, weight: number): LogDensity {
    return new LogDensity(
      this.values,
      this.values.map(
        (value, index) => (1 - weight) * Math.log(this.weights[index]!) + weight * logDensity(value),
      ),
    );
  }

  /** Convolution with an independent log-normal error; `spread` is the standard deviation of its natural logarithm. */
  blurred(spread: number): LogDensity {
    const reach = Math.ceil((3 * spread) / this.#step);
    const kernel = Array.from({ length: 2 * reach + 1 }, (_, index) =>
      Math.exp(-0.5 * (((index - reach) * this.#step) / spread) ** 2),
    );
    const { length } = this.weights;
    const blurred = new Float64Array(length);
    for (let index = 0; index < length; index++) {
      const weight = this.weights[index]!;
      for (let offset = 0; offset < kernel.length; offset++) {
        // Weight beyond the grid goes to its outermost cells.
        const at = Math.min(length - 1, Math.max(0, index + offset - reach));
        blurred[at]! += weight * kernel[offset]!;
      }
    }
    return new LogDensity(this.values, blurred.map(Math.log));
  }

  /** The quantile of `share`, 0 to 1; within a cell by interpolation of the logarithm. */
  quantile(share: number): number {
    const { index, below } = this.#cellOf(share);
    const weight = this.weights[index]!;
    const part = weight > 0 ? Math.min(1, Math.max(0, (share - below) / weight)) : 0.5;
    return this.values[index]! * Math.exp((part - 0.5) * this.#step);
  }

  /** Midpoint of the cell that holds the quantile of `share`, for densities with much weight in one cell. */
  midpoint(share: number): number {
    return this.values[this.#cellOf(share).index]!;
  }

  #cellOf(share: number): { index: number; below: number } {
    let below = 0;
    let index = 0;
    const last = this.values.length - 1;
    while (index < last && below + this.weights[index]! < share) below += this.weights[index++]!;
    return { index, below };
  }

  get interval(): Interval {
    return { low: this.quantile(0.1), median: this.quantile(0.5), high: this.quantile(0.9) };
  }

  /** Mean and standard deviation of the natural logarithm. */
  get moments(): { mean: number; spread: number } {
    let mean = 0;
    let square = 0;
    for (const [index, value] of this.values.entries()) {
      const log = Math.log(value);
      mean += this.weights[index]! * log;
      square += this.weights[index]! * log * log;
    }
    // The variance within a cell is that of a uniform distribution over its width.
    return { mean, spread: Math.sqrt(Math.max(0, square - mean * mean) + this.#step ** 2 / 12) };
  }

  /** Probability of at least `value`. */
  above(value: number): number {
    let sum = 0;
    for (const [index, each] of this.values.entries()) if (each >= value) sum += this.weights[index]!;
    return sum;
  }
}

/** Creates `count` values from `low` to `high`, equally far apart in the logarithm. */
export function logGrid(low: number, high: number, count: number): Float64Array {
  const step = Math.log(high / low) / (count - 1);
  return Float64Array.from({ length: count }, (_, index) => low * Math.exp(index * step));
}

/** Logarithm of a log-normal density over the logarithm, up to a constant. */
export function logNormal(value: number, median: number, spread: number): number {
  return -0.5 * (Math.log(value / median) / spread) ** 2;
}

/** Exponentials of the values, scaled to sum to 1; all equal when none is finite. */
export function normalised(logWeights: ArrayLike<number>): Float64Array {
  const weights = new Float64Array(logWeights);
  let max = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < weights.length; index++) if (weights[index]! > max) max = weights[index]!;
  if (!Number.isFinite(max)) return weights.fill(1 / weights.length);
  let sum = 0;
  for (let index = 0; index < weights.length; index++) {
    weights[index] = Math.exp(weights[index]! - max);
    sum += weights[index]!;
  }
  for (let index = 0; index < weights.length; index++) weights[index]! /= sum;
  return weights;
}
