/** Starts at a rate in the emulator. */
import { median } from '@hopwise/contract';
import { toNetworkPath } from '@hopwise/lab/client/networks';
import { emulate, type PageGraph, type ServerProfile } from '@hopwise/pageload-emulator';
import {
  BEGINS_MS,
  FLOW,
  type Link,
  networkOf,
  OTHER,
  OTHER_BYTES,
  SENDERS,
  SLOW_START_WINDOW,
  type Start,
  type StartSender,
} from './starts.ts';

/** The emulator's time of the flow beside another one: the median over when it begins. */
export function emulateStart(link: Link, start: Start, sender: StartSender): number {
  const { protocol, otherWindow } = SENDERS[sender];
  const path = toNetworkPath(networkOf(link));
  const servers = [
    emulatedServer(OTHER, { initialWindow: otherWindow(link) }),
    emulatedServer(FLOW, start.factor === null ? {} : { startBps: start.factor * link.mbps * 1e6 }),
  ];
  const assignment = { [OTHER]: protocol, [FLOW]: protocol };
  const times = BEGINS_MS.map(
    (beginMs) => emulate(besideOther(start.bytes, beginMs), path, servers, assignment).pltMs - beginMs,
  );
  return median(times);
}

function emulatedServer(origin: string, own: Partial<ServerProfile['tcp']>): ServerProfile {
  const sending = { initialWindow: SLOW_START_WINDOW, congestionControl: 'cubic' as const, ...own };
  return {
    origin,
    extraRttMs: 0,
    thinkMs: 0,
    tcp: sending,
    quic: sending,
    tlsVersion: '1.3',
    offers: { h1: true, h2: true, h3: true },
  };
}

/** A page that waits for the flow alone, which begins while the other one is in progress. */
function besideOther(bytes: number, beginMs: number): PageGraph {
  const fetch = (id: number, origin: number, responseBytes: number, delayMs: number) => ({
    kind: 'fetch' as const,
    id,
    requestId: id,
    url: `${[OTHER, FLOW][origin]}/${responseBytes}`,
    origin,
    type: 'fetch' as const,
    requestBytes: 110,
    responseBytes,
    blocksLoad: origin === 1,
    renderBlocking: false,
    urgency: 0,
    incremental: false,
    after: [],
    delayMs,
  });
  return {
    url: `${OTHER}/`,
    origins: [OTHER, FLOW],
    activities: [fetch(0, 0, OTHER_BYTES, 0), fetch(1, 1, bytes, beginMs)],
  };
}
