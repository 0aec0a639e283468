import type { KnownNetwork, UdpShares } from '@hopwise/contract';
import type { Interval, LogDensity } from '../network/log-density.ts';
import type { NetworkEstimate } from './estimate-network.ts';

/** Figures of the path that are numbers and that something is known of to a factor. */
export type UncertainFigure = 'rttMs' | 'downBps' | 'upBps' | 'loss' | 'queueBytes';

/** Distributions that networks are drawn from. */
export interface PathDensities {
  rttMs: LogDensity;
  upBps: LogDensity;
  queueMs: LogDensity;
  /** Events of loss per packet. */
  loss: LogDensity;
  /** Downstream rate where UDP is not policed, and where it is. */
  downBps: LogDensity;
  downBpsPoliced: LogDensity;
  policedBps: LogDensity;
}

/** Networks and servers that a recording, and whatever else is known, allow. Its own figures are the likeliest ones. */
export interface NetworkPosterior extends NetworkEstimate {
  intervals: Record<UncertainFigure, Interval>;
  udp: UdpShares;
  densities: PathDensities;
  given: KnownNetwork;
}
