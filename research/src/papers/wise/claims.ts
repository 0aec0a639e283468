import { labObstacle } from '@hopwise/lab/client/lab';
import { measureExperiment } from '../../initial-window/command.ts';
import { EXPERIMENTS, type WindowExperiment } from '../../initial-window/experiments.ts';
import { type Claim, incomparable } from '../claim.ts';

/** One iteration; each of the paper's phases has 2,000 requests, 20 iterations of 100. */
const REQUESTS = 100;
/** Under loss times scatter more, so that the windows' percentiles take longer to part. */
const REQUESTS_UNDER_LOSS = 400;

export function wiseClaims(): Claim[] {
  return [
    ...EXPERIMENTS.map(convergence),
    {
      id: 'wise-online',
      paper: 'wise',
      place: 'Figure 12',
      stated: 'the 80th percentile of mobile search falls by about 10%',
      measure: incomparable('it depends on the networks of the service’s users, which are not released'),
    },
    {
      id: 'wise-retransmissions',
      paper: 'wise',
      place: 'Negative impact',
      stated: 'retransmissions rise from 1.93 to 2.53%, timeouts from 5.0 to 5.3%',
      measure: incomparable('it depends on the networks of the service’s users, which are not released'),
    },
  ];
}

function convergence(experiment: WindowExperiment): Claim {
  return {
    id: `wise-${experiment.source.toLowerCase().replace(' ', '-')}`,
    paper: 'wise',
    place: experiment.source,
    stated: `${experiment.name}: the initial window converges, and again after each change, within 2,000 requests`,
    measure: async ({ quick, seed }, context) => {
      if (quick) return { kind: 'skipped', reason: 'flows of the kernel take minutes: run without --quick' };
      const obstacle = await labObstacle();
      if (obstacle !== null) return { kind: 'skipped', reason: obstacle };
      const requests = experiment.phases.some(({ loss }) => loss > 0) ? REQUESTS_UNDER_LOSS : REQUESTS;
      const { phases } = await measureExperiment(experiment, requests, seed, context);
      const settled = phases.filter(({ window }) => window !== null);
      if (settled.length < phases.length) {
        // More requests than these would take hours under loss.
        return {
          kind: 'incomparable',
          reason: `${settled.length} of ${phases.length} phases converged within ${requests} requests; the paper has 2,000 in each`,
        };
      }
      const worst = Math.min(...settled.map(({ learned }) => learned!.gain));
      return {
        kind: 'measured',
        hopwise: 'its explorer chooses the window, by the 80th percentile',
        real: {
          source: 'kernel',
          value: worst,
          min: 0,
          bounds: 'the learned window is no slower than 10 segments in any phase',
          text: settled
            .map(
              ({ window, untilLearned, learned }) =>
                `${window} segments after ${untilLearned} requests, 80th percentile ${(100 * learned!.gain).toFixed(1)}% below that of 10`,
            )
            .join('; '),
        },
      };
    },
  };
}
