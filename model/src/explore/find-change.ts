/**
 * A change is one of these steps of the logarithm of load times: by about a quarter up to sevenfold, or to as small a part. Each has a
 * CUSUM of its own (Page, Biometrika 41, 1954): the log-likelihood ratio of the last loads with the step and without.
 */
const LEAST_STEP = 0.25;
const STEPS = [LEAST_STEP, 0.5, 1, 2].flatMap((step) => [step, -step]);
/** Evidence from which on the last loads show a change, nats: see `find-change.test.ts` for how often they do so by chance. */
const THRESHOLD = 7;
/** How many of the last loads a change is looked for in. */
const MAX_LOADS_SINCE = 20;
/** Kernels are this many times as wide as the median distance of loads from what was usual. */
const KERNEL_WIDTH = 0.85;
/** Scatter as in the lab (`docs/ground-truth.md`), and the number of loads that it counts as beside a cluster's own. */
const USUAL_DISTANCE = 0.07;
const PRIOR_LOADS = 8;

/**
 * Looks for a change in the last loads, judged by how loads scattered before: what takes twice as long is a change where load times hardly
 * vary, and none where every third does.
 *
 * @param surprises logarithms of load times over what was usual for their arms, oldest first
 * @returns loads since the change; 0 where there is none
 */
export function findChange(surprises: readonly number[]): number {
  let best = { evidence: THRESHOLD, loads: 0 };
  // By a load that is nearer to what is usual than to any step, evidence does not grow.
  if (Math.abs(surprises.at(-1) ?? 0) < LEAST_STEP / 2) return 0;
  for (let loads = 1; loads <= Math.min(MAX_LOADS_SINCE, surprises.length); loads++) {
    const densityOf = estimateDensity(surprises.slice(0, -loads));
    const since = surprises.slice(-loads);
    const without = logLikelihood(since, densityOf);
    for (const step of STEPS) {
      const shifted = since.map((surprise) => surprise - step);
      const evidence = logLikelihood(shifted, densityOf) - without;
      if (evidence > best.evidence) best = { evidence, loads };
    }
  }
  return best.loads;
}

const logLikelihood = (surprises: readonly number[], densityOf: (surprise: number) => number): number =>
  surprises.reduce((sum, surprise) => sum + Math.log(densityOf(surprise)), 0);

/**
 * Estimates how surprises without a change are distributed, of whatever shape: by Cauchy kernels about those before. Their heavy tails bound what a
 * single disturbed load can show.
 */
function estimateDensity(before: readonly number[]): (surprise: number) => number {
  const distances = before.map(Math.abs).sort((a, b) => a - b);
  const median = distances[Math.floor(distances.length / 2)] ?? 0;
  const loads = before.length + PRIOR_LOADS;
  const width = (KERNEL_WIDTH * (before.length * median + PRIOR_LOADS * USUAL_DISTANCE)) / loads;
  const kernel = (distance: number): number => width / (Math.PI * (width ** 2 + distance ** 2));
  return (surprise) =>
    (before.reduce((sum, each) => sum + kernel(surprise - each), 0) + PRIOR_LOADS * kernel(surprise)) / loads;
}
