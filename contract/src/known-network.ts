import type { NetworkFigure, NetworkPath, ServerProfile, UdpTreatment } from './network-path.ts';

/** Figures of the network that are certain; units as in `NetworkPath`. */
export type KnownNetwork = Partial<Pick<NetworkPath, NetworkFigure>>;

/** Figures of the network that real transfers beside the recording showed; units as in `NetworkPath`. */
export interface MeasuredNetwork extends Omit<KnownNetwork, 'loss' | 'lossBurst' | 'udp'> {
  /**
   * Loss events among packets sent downstream over TCP, drops at the bottleneck's queue included, and the packets that were
   * lost in these events, where they were counted. With `isRandom`, queue drops are left out.
   */
  loss?: { events: number; packets: number; lost?: number; isRandom?: boolean };
  /** `unblocked`: UDP packets arrived, but whether their rate is limited is not known. */
  udp?: UdpTreatment | { kind: 'unblocked' };
  /** Rate that transfers reached, bits per second: a lower bound of the downstream rate. */
  reachedBps?: number;
}

/** Known fields of one server; they replace those estimated from a recording. */
export type KnownServer = Partial<ServerProfile> & Pick<ServerProfile, 'origin'>;
