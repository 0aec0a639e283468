/**
 * Belief about a page's load times in one scenario, with its weight among the scenarios. A load time is the sum of a part that all
 * candidates share and of the candidate's own part, times `stretch`. The logarithms of the parts, the shared one last, are normally
 * distributed.
 */
export interface ScenarioBelief {
  weight: number;
  stretch: number;
  means: Float64Array;
  covariance: Float64Array[];
}

/** An observation of a linear combination of the logarithms of a scenario's parts: how far it is from what was expected, and its error's variance. */
export interface LinearObservation {
  coefficients: Float64Array;
  surprise: number;
  variance: number;
}

/**
 * Share of pages whose load takes another time than the emulator's error explains, and the standard deviation of its logarithm then:
 * a server that stalled, a session taken for a load. Assumed.
 */
const MISFIT_SHARE = 0.1;
const MISFIT_DEVIATION = 1;
/**
 * The emulator's error over all pages: a surprise within it is no misfit, however well this page is known, nor do loads tell scenarios apart
 * more finely. A scenario has one load of each candidate, with losses of its own: many measured loads would otherwise
 * single out the one that happens to agree, and with it how the candidates happen to differ there. Assumed.
 */
const USUAL_DEVIATION = 0.2;

/** Likelihoods of a surprise: within the emulator's error, and beyond it. */
export function likelihoodsOf(surprise: number, variance: number): { usual: number; misfit: number } {
  const usualVariance = Math.max(variance, USUAL_DEVIATION ** 2);
  return {
    usual: (1 - MISFIT_SHARE) * density(surprise, usualVariance),
    misfit: MISFIT_SHARE * density(surprise, usualVariance + MISFIT_DEVIATION ** 2),
  };
}

/** Makes part of what all loads share what the emulator's error does not explain of a surprise. */
export function absorbMisfit(
  belief: ScenarioBelief,
  { row, surprise, explained }: { row: number; surprise: number; explained: number },
): void {
  const presentMs = totalMs(belief, row);
  const explainedMs = presentMs * Math.exp(explained * surprise);
  const measuredMs = presentMs * Math.exp(surprise);
  if (measuredMs < explainedMs) belief.stretch *= measuredMs / explainedMs;
  else addShared(belief, (measuredMs - explainedMs) / belief.stretch);
}

function addShared({ means }: ScenarioBelief, ms: number): void {
  const shared = means.length - 1;
  means[shared] = Math.log(Math.exp(means[shared]!) + ms);
}

/** A candidate's load time, milliseconds. @param row of the candidate among the parts */
export const totalMs = ({ stretch, means }: ScenarioBelief, row: number): number =>
  stretch * (Math.exp(means.at(-1)!) + Math.exp(means[row]!));

/** What small changes of the logarithms of the parts change the logarithm of a candidate's load time by. */
export function gradientOf({ means }: ScenarioBelief, row: number): Float64Array {
  const ownMs = Math.exp(means[row]!);
  const sharedMs = Math.exp(means.at(-1)!);
  const gradient = new Float64Array(means.length);
  gradient[row] = ownMs / (sharedMs + ownMs);
  gradient[means.length - 1] = sharedMs / (sharedMs + ownMs);
  return gradient;
}

/** Variance of a linear combination of the logarithms of the parts. */
export function varianceOf({ covariance }: ScenarioBelief, coefficients: Float64Array): number {
  let sum = 0;
  for (const [row, a] of coefficients.entries()) {
    if (a === 0) continue;
    for (const [column, b] of coefficients.entries()) sum += a * b * covariance[row]![column]!;
  }
  return sum;
}

/** Density of the normal distribution around 0, but for a constant factor. */
const density = (value: number, variance: number): number =>
  Math.exp(-(value ** 2) / (2 * variance)) / Math.sqrt(variance);

/** Updates the belief in one scenario. @returns the likelihood of the observation in it, see `USUAL_DEVIATION`, but for a constant factor */
export function updateScenarioBelief(
  { means, covariance }: ScenarioBelief,
  { coefficients, surprise, variance }: LinearObservation,
): number {
  const gains = covariance.map((row) =>
    row.reduce((sum, entry, index) => sum + entry * coefficients[index]!, 0),
  );
  const total = gains.reduce((sum, gain, index) => sum + gain * coefficients[index]!, variance);
  for (let row = 0; row < means.length; row++) {
    means[row]! += (gains[row]! / total) * surprise;
    for (let column = 0; column < means.length; column++) {
      covariance[row]![column]! -= (gains[row]! * gains[column]!) / total;
    }
  }
  return density(surprise, Math.max(total, USUAL_DEVIATION ** 2));
}
