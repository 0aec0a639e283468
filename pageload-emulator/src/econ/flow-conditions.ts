import type { LossByWindow } from './loss-by-window.ts';

/** What the sender of one connection meets. Windows are segments. */
export interface FlowConditions {
  congestionControl: 'cubic' | 'reno';
  /** Round trip without queueing. */
  rttMs: number;
  /** Loss apart from what a full queue drops. */
  loss: LossByWindow;
  /** The connection's share of the bottleneck's rate; no limit when absent. */
  segmentsPerMs?: number;
  /** Window that the path and its queue hold; a segment beyond it is lost. No limit when absent. */
  roomSegments?: number;
}

/**
 * A bottleneck that `connections` share evenly: the rate of each, and the window beyond which its part of the
 * queue overflows. ECON counts connections (npc) but neither caps nor couples them.
 *
 * @param queueSegments drop-tail queue of the bottleneck
 */
export function bottleneckShare(
  rttMs: number,
  segmentsPerMs: number,
  queueSegments: number,
  connections: number,
): Required<Pick<FlowConditions, 'segmentsPerMs' | 'roomSegments'>> {
  return {
    segmentsPerMs: segmentsPerMs / connections,
    roomSegments: Math.max(1, Math.floor((segmentsPerMs * rttMs + queueSegments) / connections)),
  };
}

/** How long a round with a window of `segments` takes: a round trip, or what the bottleneck needs for it. */
export function roundMs({ rttMs, segmentsPerMs }: FlowConditions, segments: number): number {
  return segmentsPerMs === undefined ? rttMs : Math.max(rttMs, segments / segmentsPerMs);
}

/** How long the bottleneck takes to pass on `segments` that arrive together. */
export function transmissionMs({ segmentsPerMs }: FlowConditions, segments: number): number {
  return segmentsPerMs === undefined ? 0 : segments / segmentsPerMs;
}
