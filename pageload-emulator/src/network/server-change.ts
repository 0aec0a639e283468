import type { CongestionControl, NetworkPath, ServerProfile } from '@hopwise/contract';

/** A change of how all servers send, over TCP and QUIC alike; absent fields stay as they are. */
export interface ServerChange {
  /** Initial window, packets (TCP WISE: Nie et al., IWQoS 2018). */
  initialWindow?: number;
  /** The algorithm that all servers use, such as BBR, or Hybla for long round trips (VTL: Bonfoh et al., IFIP Networking 2021). */
  congestionControl?: CongestionControl;
  /**
   * Rate at which connections begin in place of an initial window, bits per second, as a client may signal it (Rüth et
   * al., "Blitz-starting QUIC connections", 2019).
   */
  startBps?: number;
  /** `startBps` as a multiple of the path's downstream rate: 1 is a correct estimate. */
  startShare?: number;
}

/**
 * Applies a change to every server.
 *
 * @param path its downstream rate is what `startShare` multiplies
 */
export function changeServers(
  servers: readonly ServerProfile[],
  { initialWindow, congestionControl, startBps, startShare }: ServerChange,
  path: NetworkPath,
): ServerProfile[] {
  const start = startShare === undefined ? startBps : startShare * path.downBps;
  const changes = {
    ...(initialWindow !== undefined && { initialWindow }),
    ...(congestionControl !== undefined && { congestionControl }),
    ...(start !== undefined && { startBps: start }),
  };
  return servers.map((server) => ({
    ...server,
    tcp: { ...server.tcp, ...changes },
    quic: { ...server.quic, ...changes },
  }));
}
