import {
  type Decision,
  median,
  type NetworkPath,
  type OriginRecommendation,
  type PaintTimes,
  type Prediction,
  type Recording,
} from '@hopwise/contract';
import type { CheckedFigures } from './check/breaches.ts';
import { unknownBefore } from './emulate/browser-assignment.ts';
import { predictPage } from './predict.ts';
import { loadPage } from './scenarios/load-page.ts';
import { scalePaints } from './scenarios/load-time.ts';
import type { Question } from './scenarios/question.ts';

/** What a budget judges of one page on one network. */
export interface PageCheck extends CheckedFigures {
  loadTimeMs: number;
  originsOnBest: number;
  gainLeft: number;
  /** 10th and 90th percentile of the load time, milliseconds. */
  range: { low: number; high: number };
  prediction: Prediction;
}

/** Scenarios of which the median first paint is taken: random loss spreads it less than the load time. */
const PAINT_SCENARIOS = 9;

/**
 * Predicts how the browser by itself loads a page on a network, and what better protocols would gain.
 *
 * @throws EmulationError when the page does not load on the network
 */
export function checkPage(recording: Recording, path: NetworkPath): PageCheck {
  const { prediction, question } = predictPage(recording, {
    network: path,
    thorough: true,
    knowledge: { isOtherNetwork: true },
  });
  const { decision, origins } = prediction;
  const { pltMs, low, high, emulated } = decision.baseline;
  const paints = paintTimes(recording, question, decision.baseline);
  const medians = {
    firstContentfulPaintMs: medianPaint(paints, 'firstContentfulPaintMs'),
    largestContentfulPaintMs: medianPaint(paints, 'largestContentfulPaintMs'),
  };
  const scaled = scalePaints(question.paint.keepBeforeLoad(medians, emulated.pltMs), emulated.pltMs, pltMs);
  return {
    loadTimeMs: pltMs,
    firstPaintMs: scaled.firstContentfulPaintMs,
    largestPaintMs: scaled.largestContentfulPaintMs,
    originsOnBest: shareOnBest(origins, decision.baseline.protocols),
    gainLeft: Math.max(0, ...decision.actions.map(({ gain }) => gain)),
    range: { low, high },
    prediction,
  };
}

/** Share of the origins for which no other protocol is clearly better than the browser's own; 1 without origins. */
export function shareOnBest(
  origins: readonly Pick<OriginRecommendation, 'origin' | 'protocol' | 'decided'>[],
  own: Decision['baseline']['protocols'],
): number {
  if (origins.length === 0) return 1;
  const right = origins.filter(({ origin, protocol, decided }) => !decided || own[origin] === protocol);
  return right.length / origins.length;
}

/** Paints of the browser's own loads; none where the recording shows none, as nothing is known of them then. */
function paintTimes(
  recording: Recording,
  { graph, paint, scenarios }: Question,
  { protocols, visit }: Decision['baseline'],
): PaintTimes[] {
  if (recording.firstContentfulPaintMs === null && recording.largestContentfulPaintMs === null) return [];
  return scenarios(PAINT_SCENARIOS).map((scenario) => {
    const servers = visit === 'first' ? scenario.servers.map(unknownBefore) : scenario.servers;
    // A paint may come after the load event: the whole load is emulated.
    const { endMs } = loadPage(graph, { ...scenario, servers }, protocols, { waterfall: true });
    return paint.timesOf(endMs);
  });
}

/** Null where the paint is unknown in every load. */
function medianPaint(paints: readonly PaintTimes[], name: keyof PaintTimes): number | null {
  const times = paints.flatMap((paint) => paint[name] ?? []);
  return times.length === 0 ? null : median(times);
}
