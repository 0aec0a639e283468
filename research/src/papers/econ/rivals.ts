/** Predictions from a history, as ECON compares itself with (section 5.1): the oldest value first. */
type Rival = (history: readonly number[]) => number;

/** Section 5.1: α and β. */
const ALPHA = 0.8;
const BETA = 0.8;

export const RIVALS: Record<'EWMA' | 'Holt-Winters' | 'last sample' | 'harmonic mean', Rival> = {
  EWMA: (history) => history.reduce((mean, value) => ALPHA * value + (1 - ALPHA) * mean),
  'Holt-Winters': holtWinters,
  'last sample': (history) => history.at(-1)!,
  'harmonic mean': (history) => history.length / history.reduce((sum, value) => sum + 1 / value, 0),
};

/** Without seasons (He, Dovrolis and Ammar, SIGCOMM 2005): level and trend. */
function holtWinters(history: readonly number[]): number {
  let level = history[0]!;
  let trend = history.length > 1 ? history[1]! - history[0]! : 0;
  for (const value of history.slice(1)) {
    const before = level;
    level = ALPHA * value + (1 - ALPHA) * (level + trend);
    trend = BETA * (level - before) + (1 - BETA) * trend;
  }
  // A steep fall would predict a rate below 0.
  return Math.max(level + trend, Number.EPSILON);
}

/** PFTK's b: Linux grows its window by acknowledged segments, so that delayed acknowledgements do not slow it. */
const ACKNOWLEDGED = 1;
/** Linux's smallest retransmission timeout, TCP_RTO_MIN, beside the round trip. */
const MIN_TIMEOUT_MS = 200;

/**
 * Throughput of a long flow under Reno: equation 32 of Padhye, Firoiu, Towsley and Kurose (SIGCOMM 1998), without a limit of
 * the receiver.
 *
 * @param loss loss events per packet, above 0
 */
export function pftkSegmentsPerMs(loss: number, rttMs: number): number {
  const duplicates = rttMs * Math.sqrt((2 * ACKNOWLEDGED * loss) / 3);
  const timeouts =
    (rttMs + MIN_TIMEOUT_MS) *
    Math.min(1, 3 * Math.sqrt((3 * ACKNOWLEDGED * loss) / 8)) *
    loss *
    (1 + 32 * loss ** 2);
  return 1 / (duplicates + timeouts);
}
