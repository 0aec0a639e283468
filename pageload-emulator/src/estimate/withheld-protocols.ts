import type { Protocol, RecordedRequest, Recording, UdpTreatment } from '@hopwise/contract';
import { connectionPools } from '../graph/connection-pools.ts';
import { hasH3Answer, recordedVisit } from '../recording/visit.ts';
import { originOf } from '../util/url.ts';
import { sentMs } from './replay.ts';

/**
 * What a browser may have done with offers of HTTP/3 where the recording withholds the protocol (cross-origin without
 * `Timing-Allow-Origin`): ignored them, followed those of this load's responses, or known them from an earlier visit.
 */
type OfferUse = 'ignored' | 'followed' | 'known';

/** A recording's requests with the withheld protocols filled in. */
interface AssumedProtocols {
  use: OfferUse;
  /** Before the times of the responses are looked at; those of all assumptions sum to 1. */
  probability: number;
  requests: RecordedRequest[];
}

/** Probability that a browser uses the HTTP/3 that it is offered, when the recording does not show it; assumed. */
const USED = 0.8;
/** That probability where other requests of the load went over HTTP/3; assumed. */
const USED_BESIDE_OTHERS = 0.97;
/** Round trips from the first request that follows an offer until requests go over HTTP/3: its handshake, and some slack. */
const SWITCH_RTTS = 1.5;

/**
 * Fills in the protocols that a recording withholds, for origins that offer HTTP/3 and so HTTP/2, in each way that is possible.
 * Other withheld protocols stay null. Assumptions that come to the same are one.
 *
 * @param udp what is known to happen to UDP
 * @param rttMs round trip of the path
 */
export function assumeProtocols(
  recording: Recording,
  udp: UdpTreatment | undefined,
  rttMs: number,
): AssumedProtocols[] {
  const pools = connectionPools(recording);
  const switches = switchTimes(recording, pools, rttMs);
  const assumptions: AssumedProtocols[] = [];
  for (const { use, probability } of offerUses(recording, udp)) {
    const protocolOf = (request: RecordedRequest, switchMs: number): Protocol => {
      if (use === 'followed') return sentMs(request, rttMs) >= switchMs ? 'h3' : 'h2';
      return use === 'known' ? 'h3' : 'h2';
    };
    const requests = recording.requests.map((request) => {
      const switchMs = isWithheld(request) ? switches.get(poolKey(request, pools)) : undefined;
      return switchMs === undefined ? request : { ...request, protocol: protocolOf(request, switchMs) };
    });
    const same = assumptions.find((other) =>
      other.requests.every(({ protocol }, id) => protocol === requests[id]!.protocol),
    );
    if (same) same.probability += probability;
    else assumptions.push({ use, probability, requests });
  }
  return assumptions;
}

function offerUses(
  recording: Recording,
  udp: UdpTreatment | undefined,
): Pick<AssumedProtocols, 'use' | 'probability'>[] {
  if (udp?.kind === 'blocked') return [{ use: 'ignored', probability: 1 }];
  const used = hasH3Answer(recording) ? USED_BESIDE_OTHERS : USED;
  const ignored = { use: 'ignored', probability: 1 - used } as const;
  const visit = recordedVisit(recording);
  if (visit !== null) {
    return [ignored, { use: visit === 'first' ? 'followed' : 'known', probability: used }];
  }
  return [ignored, { use: 'followed', probability: used / 2 }, { use: 'known', probability: used / 2 }];
}

/**
 * When requests of each pool of connections to an offering origin would begin to go over HTTP/3, milliseconds: once the connection
 * is open that the pool's first request after the offer leads to. Until then Chromium sends requests over the open HTTP/2
 * connection; a pool that has none yet waits for HTTP/3.
 */
function switchTimes({ requests }: Recording, pools: readonly number[], rttMs: number): Map<string, number> {
  const offeredMs = new Map<string, number>();
  for (const { url, offersH3, phases, endMs } of requests) {
    const origin = originOf(url);
    if (!origin?.startsWith('https:') || !offersH3) continue;
    const atMs = phases.responseStartMs ?? endMs;
    offeredMs.set(origin, Math.min(atMs, offeredMs.get(origin) ?? atMs));
  }
  const switches = new Map<string, number>();
  const open = new Set<string>();
  const inOrder = requests.map((request) => ({ request, atMs: sentMs(request, rttMs) }));
  for (const { request, atMs } of inOrder.sort((a, b) => a.atMs - b.atMs)) {
    const offerMs = offeredMs.get(originOf(request.url) ?? '');
    if (offerMs === undefined) continue;
    const key = poolKey(request, pools);
    if (!switches.has(key)) switches.set(key, Number.POSITIVE_INFINITY);
    if (atMs < offerMs) open.add(key);
    else if (switches.get(key) === Number.POSITIVE_INFINITY) {
      switches.set(key, open.has(key) ? atMs + SWITCH_RTTS * rttMs : atMs);
    }
  }
  return switches;
}

function poolKey({ id, url }: RecordedRequest, pools: readonly number[]): string {
  return `${originOf(url)} ${pools[id]}`;
}

function isWithheld({ protocol, fromCache, status }: RecordedRequest): boolean {
  return protocol === null && !fromCache && status !== 0;
}
