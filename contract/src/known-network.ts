import type { NetworkFigure, NetworkPath, ServerProfile, UdpTreatment } from './network-path.ts';

/** Figures of the network that somebody knows; units as in `NetworkPath`. */
export type KnownNetwork = Partial<Pick<NetworkPath, NetworkFigure>>;

/** What transfers beside the recording showed of the network; units as in `NetworkPath`. */
export interface MeasuredNetwork extends Omit<KnownNetwork, 'loss' | 'udp'> {
  /** Events of loss among packets that were to arrive over TCP; drops of the bottleneck's queue are among them. */
  loss?: { events: number; packets: number };
  /** `unblocked`: packets came through, at what rate they may is not known. */
  udp?: UdpTreatment | { kind: 'unblocked' };
  /** A rate that transfers had, bits per second: the bottleneck carries no less downstream. */
  reachedBps?: number;
}

/** What is known of one server, over what a recording shows. */
export type KnownServer = Partial<ServerProfile> & Pick<ServerProfile, 'origin'>;
