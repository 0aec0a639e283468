import { LogDensity, normalised } from '../network/log-density.ts';
import type { PathFit } from './fit-path.ts';
import { logSum } from './log-likelihood.ts';

/** A fit of the path under an assumption. */
interface AssumedFit {
  /** Probability of the assumption before the fit. */
  probability: number;
  fit: PathFit;
}

/** Probabilities of the assumptions after the fits (Bayes' rule), in their order. */
export function posteriorOf(fits: readonly AssumedFit[]): Float64Array {
  return normalised(fits.map(({ probability, fit }) => Math.log(probability) + fit.logEvidence));
}

/** The fit over all assumptions. Their densities have common grids, as their priors are the same. */
export function mixFits(fits: readonly AssumedFit[]): PathFit {
  const shares = posteriorOf(fits);
  const mixed = (densityOf: (fit: PathFit) => LogDensity, weights: Float64Array) => {
    const densities = fits.map(({ fit }) => densityOf(fit));
    // Where no fit holds a treatment of UDP possible, the fits' own densities are averaged.
    return LogDensity.mixture(densities, weights.some((weight) => weight > 0) ? weights : shares);
  };
  const policed = shares.map((share, index) => share * fits[index]!.fit.policedShare);
  const open = shares.map((share, index) => share - policed[index]!);
  return {
    downBps: mixed((fit) => fit.downBps, open),
    policed: {
      downBps: mixed((fit) => fit.policed.downBps, policed),
      loss: mixed((fit) => fit.policed.loss, policed),
      bps: mixed((fit) => fit.policed.bps, policed),
    },
    policedShare: policed.reduce((sum, each) => sum + each, 0),
    queueMs: mixed((fit) => fit.queueMs, shares),
    loss: mixed((fit) => fit.loss, open),
    logEvidence: logSum(fits.map(({ probability, fit }) => Math.log(probability) + fit.logEvidence)),
  };
}
