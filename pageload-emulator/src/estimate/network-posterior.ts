import type { KnownNetwork, UdpShares } from '@hopwise/contract';
import type { Interval, LogDensity } from '../network/log-density.ts';
import type { NetworkEstimate } from './estimate-network.ts';

/** Numeric figures of the path with a distribution. */
export type UncertainFigure = 'rttMs' | 'downBps' | 'upBps' | 'loss' | 'lossBurst' | 'queueBytes';

/** Distributions that scenarios are drawn from; units as in `NetworkCluster`. */
export interface PathDensities {
  rttMs: LogDensity;
  upBps: LogDensity;
  queueMs: LogDensity;
  /** Loss events per packet. */
  loss: LogDensity;
  /** Mean packets lost in one event; its midpoints are possible lengths, the lowest of which is 1. */
  lossBurst: LogDensity;
  /** Downstream rate if UDP is not policed. */
  downBps: LogDensity;
  /** Downstream rate if UDP is policed. */
  downBpsPoliced: LogDensity;
  policedBps: LogDensity;
}

/** Distribution of networks and servers, given a recording and other knowledge. `path` and `servers` are the likeliest ones. */
export interface NetworkPosterior extends Omit<NetworkEstimate, 'isFilled'> {
  intervals: Record<UncertainFigure, Interval>;
  udp: UdpShares;
  densities: PathDensities;
  given: KnownNetwork;
}
