import {
  type Assignment,
  type CongestionControl,
  changeServers,
  EmulationError,
  emulate,
  type NetworkFigures,
  type NetworkPath,
  type PageGraph,
  PROTOCOLS,
  type Protocol,
  type ServerProfile,
  toPath,
} from '@hopwise/pageload-emulator';

/** Changes of all servers; null where they stay as they are. */
export interface WhatIfServers {
  initialWindow: number | null;
  /** The rate that servers start at (Blitz start), as a share of the link's. */
  startShare: number | null;
  congestionControl: CongestionControl | null;
  /** Whether they follow the browser's priorities (RFC 9218). */
  prioritises: boolean | null;
  /** Whether all origins share connections, as behind one host name. */
  isConsolidated: boolean;
}

export interface WhatIfSettings {
  network: NetworkFigures;
  servers: WhatIfServers;
}

/** A page with what was read from its recording. */
export interface EmulatedPage {
  graph: PageGraph;
  servers: readonly ServerProfile[];
}

/** Load time of each protocol in milliseconds, on every origin; null where it does not load the page. */
export type ProtocolTimes = Record<Protocol, number | null>;

/**
 * Emulates one load of the page under each protocol.
 *
 * @param seed of the random losses
 */
export function emulateLoads(page: EmulatedPage, settings: WhatIfSettings, seed: number): ProtocolTimes {
  const path = toPath(settings.network);
  const servers = changedServers(page.servers, settings.servers, path);
  const times = PROTOCOLS.map((protocol) => {
    if (protocol === 'h3' && path.udp.kind === 'blocked') return [protocol, null];
    const assignment: Assignment = Object.fromEntries(page.graph.origins.map((origin) => [origin, protocol]));
    try {
      return [protocol, emulate(page.graph, path, servers, assignment, { seed }).pltMs];
    } catch (error) {
      if (error instanceof EmulationError) return [protocol, null];
      throw error;
    }
  });
  return Object.fromEntries(times) as ProtocolTimes;
}

/** The servers with changes of all of them. */
export function changedServers(
  servers: readonly ServerProfile[],
  { initialWindow, startShare, congestionControl, prioritises, isConsolidated }: WhatIfServers,
  path: NetworkPath,
): ServerProfile[] {
  const changed = changeServers(
    servers,
    {
      ...(initialWindow !== null && { initialWindow }),
      ...(startShare !== null && { startShare }),
      ...(congestionControl !== null && { congestionControl }),
    },
    path,
  );
  return changed.map((server) => ({
    ...server,
    ...(prioritises !== null && { prioritises }),
    ...(isConsolidated && { connectionGroup: 'all', extraRttMs: 0 }),
  }));
}
