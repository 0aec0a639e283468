import type { CongestionControl, ServerProfile } from './path/network-path.ts';

/** What if all servers were set up otherwise: what is absent stays as it is. */
export interface ServerChange {
  /** Packets that a new connection sends at once, over TCP and QUIC (TCP WISE: Nie et al., IWQoS 2018). */
  initialWindow?: number;
  congestionControl?: CongestionControl;
  /** Bits per second that the servers take the path to carry, rightly or wrongly ("Blitz start": Rüth et al. 2019). */
  startBps?: number;
}

/** The servers after a change. */
export function changeServers(servers: readonly ServerProfile[], change: ServerChange): ServerProfile[] {
  const { initialWindow, congestionControl, startBps } = change;
  const changes = {
    ...(startBps !== undefined && { startBps }),
    ...(initialWindow !== undefined && { initialWindow }),
    ...(congestionControl !== undefined && { congestionControl }),
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
export function changeInWords({ initialWindow, congestionControl, startBps }: ServerChange): string {
  const parts: string[] = [];
  if (initialWindow !== undefined)
    parts.push(`an initial window of ${initialWindow} packet${initialWindow === 1 ? '' : 's'}`);
  if (startBps !== undefined) parts.push(`a start at ${Number((startBps / 1e6).toPrecision(3))} Mbit/s`);
  if (congestionControl !== undefined) parts.push(CONTROL_NAME[congestionControl]);
  return parts.length === 0 ? 'the present servers' : parts.join(' and ');
}
