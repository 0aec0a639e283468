import type { NetworkPath, ServerProfile } from '@hopwise/contract';
import type { PageGraph } from '../graph/page-graph.ts';
import { defaultServer } from '../network/server-defaults.ts';
import type { FlowConditions } from './flow-conditions.ts';
import type { LossByConnections } from './loss-by-connections.ts';
import { lossBySegment } from './loss-by-segment.ts';
import { type EconLoad, econPageLoad } from './page-load.ts';

/** The protocols that ECON models. */
export type EconProtocol = 'h1' | 'h2';

/** Senders as ECON has them. */
export interface EconSenders {
  /** p(cwnd, npc); when absent, packets (or bursts of them) are lost independently at the path's loss. */
  loss?: LossByConnections | undefined;
  congestionControl: FlowConditions['congestionControl'];
}

/** Round trips of TCP's and TLS 1.3's handshakes, which ECON itself leaves out. */
const HANDSHAKE_ROUNDS = 2;
/** RFC 6928, segments. */
const INITIAL_WINDOW = 10;

/**
 * Loads a page over a protocol, as ECON has it, on a network and from servers as the page emulator takes them. What UDP meets, Blitz
 * start, priorities and connections that origins share are not ECON's.
 *
 * @param protocol of every origin
 */
export function loadByEcon(
  graph: PageGraph,
  path: NetworkPath,
  servers: readonly ServerProfile[],
  { loss, congestionControl }: EconSenders,
  protocol: EconProtocol,
): EconLoad {
  // A burst of losses is one loss event.
  const independent = lossBySegment(path.loss / path.lossBurst);
  const profiles = graph.origins.map(
    (origin) => servers.find((server) => server.origin === origin) ?? defaultServer(origin),
  );
  return econPageLoad(
    graph,
    {
      rttMs: path.rttMs,
      downBps: path.downBps,
      queueBytes: path.queueBytes,
      loss: loss ?? (() => independent),
      congestionControl,
      initialWindow: INITIAL_WINDOW,
      handshakeRounds: HANDSHAKE_ROUNDS,
    },
    protocol,
    {
      extraRttMs: profiles.map(({ extraRttMs }) => extraRttMs),
      thinkMs: profiles.map(({ thinkMs }) => thinkMs),
      initialWindows: profiles.map(({ tcp }) => tcp.initialWindow),
    },
  );
}
