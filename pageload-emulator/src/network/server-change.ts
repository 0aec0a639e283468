import type { CongestionControl, NetworkPath, ServerProfile } from '@hopwise/contract';

/** What if all servers sent otherwise, over TCP and QUIC: what is absent stays as it is. */
export interface ServerChange {
  /** Packets that a new connection sends at once (TCP WISE: Nie et al., IWQoS 2018). */
  initialWindow?: number;
  /** BBR, or Hybla for long round trips (VTL: Bonfoh et al., IFIP Networking 2021). */
  congestionControl?: CongestionControl;
  /** Begin at this rate instead of with an initial window, as a client told it (Blitz start: Rüth et al.); bits per second. */
  startBps?: number;
  /** The same as a multiple of the path's downstream rate: 1 is a right estimate, others are wrong. */
  startShare?: number;
}

/** The servers after a change. @param path whose rate a `startShare` is of */
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

const CONTROL_NAME: Record<CongestionControl, string> = {
  cubic: 'Cubic',
  reno: 'Reno',
  bbr: 'BBR',
  hybla: 'Hybla',
};

/** "an initial window of 32 packets and BBR". */
export function changeInWords(change: ServerChange): string {
  const { initialWindow, congestionControl, startBps, startShare } = change;
  const parts: string[] = [];
  if (initialWindow !== undefined) {
    parts.push(`an initial window of ${initialWindow} packet${initialWindow === 1 ? '' : 's'}`);
  }
  if (startShare !== undefined) parts.push(`a start at ${startShare} times the link's rate`);
  else if (startBps !== undefined) parts.push(`a start at ${startBps / 1e6} Mbit/s`);
  if (congestionControl !== undefined) parts.push(CONTROL_NAME[congestionControl]);
  return parts.length === 0 ? 'the present servers' : parts.join(' and ');
}
