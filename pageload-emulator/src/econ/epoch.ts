import type { FlowConditions } from './flow-conditions.ts';

/** RFC 9438 section 4.6: what Cubic keeps of its window; ECON's β, what it drops, is 0.3. */
const CUBIC_KEEPS = 0.7;
/** RFC 5681 equation 4. */
const RENO_KEEPS = 0.5;
/** RFC 9438 section 4.7. */
const FAST_CONVERGENCE = (1 + CUBIC_KEEPS) / 2;
/** RFC 5681 equation 4, RFC 9438 section 4.6. */
const SMALLEST_WINDOW = 2;

/** Where a climb of the window starts: congestion avoidance between two losses. Windows are whole segments. */
export interface Epoch {
  /** ECON's scwnd. */
  start: number;
  /** RFC 9438's W_max: the plateau that Cubic returns to. */
  windowMax: number;
  /** RFC 9438's cwnd_prior: window at the loss before. */
  prior: number;
}

/**
 * The epoch after a loss in a window of `lost` segments.
 *
 * ECON takes W_max = scwnd / (1 − β), which leaves no room for fast convergence or for a slow start
 * that ended without a loss: here W_max is part of the state.
 *
 * @param windowMax of the epoch that the loss ends; 0 for a loss in slow start
 */
export function epochAfterLoss(
  congestionControl: FlowConditions['congestionControl'],
  lost: number,
  windowMax: number,
): Epoch {
  const cubic = congestionControl === 'cubic';
  return {
    start: Math.max(SMALLEST_WINDOW, Math.floor(lost * (cubic ? CUBIC_KEEPS : RENO_KEEPS))),
    windowMax: cubic && lost < windowMax ? lost * FAST_CONVERGENCE : lost,
    prior: lost,
  };
}

/** The epoch after a slow start that ssthresh ended: no plateau to return to (RFC 9438 section 4.8's K = 0). */
export function epochAfterSlowStart(window: number): Epoch {
  const start = Math.floor(window);
  return { start, windowMax: start, prior: start };
}
