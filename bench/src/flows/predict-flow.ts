/** The emulator's prediction of a single flow. */

import { toNetworkPath } from '@hopwise/lab/client/networks';
import {
  type CongestionControl,
  emulate,
  type PageGraph,
  type Protocol,
  type ServerProfile,
} from '@hopwise/pageload-emulator';
import type { FlowCell } from './grid.ts';

/** Response fields that the lab's server sends, and the request of its client, on the wire before compression. */
const RESPONSE_HEADER_BYTES = 180;
const REQUEST_BYTES = 110;
const ORIGIN = 'https://flow.test';

interface PredictedFlow {
  /** From the request to the response's last byte, of each seed. */
  transferMs: number[];
  /** With the handshake. */
  totalMs: number[];
}

/** Emulates a flow with the cell's own settings. */
export function predictFlow(cell: FlowCell, seeds: readonly number[]): PredictedFlow {
  const graph = graphOf(cell.bytes + RESPONSE_HEADER_BYTES);
  const path = toNetworkPath(cell.network);
  const protocol: Protocol = cell.sender === 'quic' ? 'h3' : 'h1';
  const loads = seeds.map((seed) =>
    emulate(graph, path, [serverOf(cell)], { [ORIGIN]: protocol }, { seed, waterfall: true }),
  );
  return {
    transferMs: loads.map(({ entries }) => entries[0]!.endMs - entries[0]!.sentMs),
    totalMs: loads.map(({ pltMs }) => pltMs),
  };
}

function serverOf({ sender, initialWindow }: FlowCell): ServerProfile {
  const congestionControl: CongestionControl = sender === 'quic' ? 'cubic' : sender;
  return {
    origin: ORIGIN,
    extraRttMs: 0,
    thinkMs: 0,
    tcp: { initialWindow, congestionControl },
    // quic-go uses its Cubic sender in Reno mode.
    quic: { initialWindow: 32, congestionControl: 'reno' },
    tlsVersion: '1.3',
    offers: { h1: true, h2: true, h3: true },
  };
}

function graphOf(responseBytes: number): PageGraph {
  return {
    url: `${ORIGIN}/`,
    origins: [ORIGIN],
    activities: [
      {
        kind: 'fetch',
        id: 0,
        requestId: 0,
        url: `${ORIGIN}/`,
        origin: 0,
        type: 'document',
        requestBytes: REQUEST_BYTES,
        responseBytes,
        blocksLoad: true,
        renderBlocking: true,
        urgency: 0,
        incremental: false,
        after: [],
        delayMs: 0,
      },
    ],
  };
}
