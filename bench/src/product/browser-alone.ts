/** The browser alone, which each arm is compared with. */
import { averageKinds } from '../recorder/processor-time.ts';
import type { ProductArm } from './arms.ts';
import type { StoredVisit } from './store.ts';

/**
 * The visits of the browser alone that an arm is compared with, those of the arm `off`. Where `off-again` was measured too, each is the mean of the
 * two, whose variance is half of one's; `off-again` itself is compared with `off`, which shows the noise.
 *
 * @param visits of all arms
 */
export function listAlone(arm: ProductArm, visits: readonly StoredVisit[]): StoredVisit[] {
  const isAveraged = arm !== 'off-again';
  const again = new Map(
    visits.filter((each) => isAveraged && each.arm === 'off-again').map((each) => [keyOf(each), each]),
  );
  return visits
    .filter((each) => each.arm === 'off')
    .map((each) => {
      const second = again.get(keyOf(each));
      return second === undefined ? each : average(each, second);
    });
}

/** Names a visit, whichever the arm. */
export const keyOf = ({ network, page, visit }: StoredVisit): string => `${network} ${page} ${visit}`;

/** Load times are compared by their ratios, hence their geometric mean; all else by sums. */
function average(a: StoredVisit, b: StoredVisit): StoredVisit {
  const averageOf = (key: 'memoryMb' | 'restMs') => {
    const [first, second] = [a[key], b[key]];
    return first === undefined || second === undefined ? first : averageKinds(first, second);
  };
  return {
    ...a,
    pltMs: Math.sqrt(a.pltMs * b.pltMs),
    processorMs: averageKinds(a.processorMs, b.processorMs),
    memoryMb: averageOf('memoryMb'),
    restMs: averageOf('restMs'),
    disturbedBy: [...a.disturbedBy, ...b.disturbedBy],
  };
}
