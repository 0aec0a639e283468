import { assumedQueueBytes } from '../path/estimate.ts';
import type { FigureSource, NetworkFigure, NetworkPath, ServerProfile } from '../path/network-path.ts';
import { createRandom, hashSeed, normal } from '../random.ts';

/** One possible network and servers, with one draw of the losses. */
export interface Scenario {
  path: NetworkPath;
  servers: readonly ServerProfile[];
  seed: number;
}

/** Standard deviation of a figure's logarithm, by where it came from; what is given is certain. */
const SPREAD: Record<'rttMs' | 'downBps' | 'upBps' | 'loss', Record<FigureSource, number>> = {
  rttMs: { given: 0, measured: 0.03, estimated: 0.1, assumed: 0.5 },
  downBps: { given: 0, measured: 0.08, estimated: 0.25, assumed: 0.6 },
  upBps: { given: 0, measured: 0.08, estimated: 0.3, assumed: 0.6 },
  // Half a decade is what timings tell of a loss rate.
  loss: { given: 0, measured: 0.4, estimated: 0.8, assumed: 1.1 },
};

/**
 * Networks around an estimate, as uncertain as its figures are; the first is the estimate itself, and a longer list begins
 * with the shorter one. All protocols are compared on the same scenarios (common random numbers).
 */
export function drawScenarios(
  path: NetworkPath,
  servers: readonly ServerProfile[],
  sources: Record<NetworkFigure, FigureSource>,
  count: number,
): Scenario[] {
  const certain =
    path.loss === 0 &&
    (Object.keys(SPREAD) as (keyof typeof SPREAD)[]).every((figure) => SPREAD[figure][sources[figure]] === 0);
  // Without loss and doubt all scenarios are one.
  if (certain) return [{ seed: 1, path, servers }];
  const scenarios: Scenario[] = [];
  for (let seed = 1; seed <= count; seed++) {
    const random = createRandom(hashSeed(seed, 0x5ce4a210));
    const factor = (figure: keyof typeof SPREAD) => {
      const deviation = normal(random) * SPREAD[figure][sources[figure]];
      return seed === 1 ? 1 : Math.exp(deviation);
    };
    const rttMs = path.rttMs * factor('rttMs');
    const downBps = path.downBps * factor('downBps');
    const upBps = path.upBps * factor('upBps');
    const loss = Math.min(0.2, path.loss * factor('loss'));
    const queueBytes =
      sources.queueBytes === 'assumed' && seed > 1 ? assumedQueueBytes(downBps, rttMs) : path.queueBytes;
    scenarios.push({ seed, servers, path: { ...path, rttMs, downBps, upBps, loss, queueBytes } });
  }
  return scenarios;
}
