import {
  type Assignment,
  groupBy,
  type NetworkPath,
  type Protocol,
  type RecordedRequest,
  type Recording,
  type ServerProfile,
} from '@hopwise/contract';
import { CHROMIUM_COSTS, type ClientCosts, NO_COSTS } from '../client/client-costs.ts';
import { emulate } from '../emulate/emulate.ts';
import { bodyTimes } from '../graph/body-times.ts';
import { connectionPools } from '../graph/connection-pools.ts';
import type { FetchActivity, PageGraph } from '../graph/page-graph.ts';
import { PACKET } from '../network/packet.ts';
import { ArrivalCurve } from '../recording/arrival-curve.ts';
import { busyRate } from '../recording/link-rate.ts';
import { requestBytesOf, responseBytesOf } from '../recording/sizes.ts';
import { handshakeOf } from '../transport/handshake.ts';
import { originOf } from '../util/url.ts';
import type { NetworkEstimate } from './estimate-network.ts';
import { firstPart } from './first-part.ts';
import { MAX_STATIC_THINK_MS } from './server-profile.ts';

/** One request of a recorded load from the network's point of view; milliseconds after navigationStart. */
export interface ReplayedRequest {
  protocol: Protocol;
  /** Whether it went over HTTP/3, or would under another assumption that the replay is compared with. */
  mayBeQuic: boolean;
  /** When the browser opened a connection for it or sent it on an open one. */
  startMs: number;
  /** Null when withheld. */
  firstByteMs: number | null;
  endMs: number;
  /** Minimum round trips: the handshakes that it waits for, and its own. */
  roundTrips: number;
  /** Packets whose loss could delay it: its own and, on a shared TCP connection, those just before them. */
  packets: number;
  /** Whether it ended within the part of the load that is replayed; otherwise it only shares the link. */
  isWhole: boolean;
  /** Whether its size was recorded; otherwise its time shows nothing. */
  sized: boolean;
}

/** Whether a request may have gone over HTTP/3. */
type MayBeQuic = (request: RecordedRequest) => boolean;

/** When each request of a replay got its first byte and ended, in order of `Replay.requests`. */
export interface ReplayedTimes {
  firstByteMs: Float64Array;
  endMs: Float64Array;
  /** Number of simulated events, a measure of the emulation's cost. */
  events: number;
}

/** Ten times the events of a replay on a link like the recording's. */
const MAX_EVENTS = 100_000;
/**
 * Requests are replayed from when they left the browser's processes. The time of responses in the browser is taken to be
 * processor time, for which they compete.
 */
const CLIENT: ClientCosts = { ...NO_COSTS, responseMs: 2, quicPacketMs: CHROMIUM_COSTS.quicPacketMs };
/** Long enough that bytes which a repaired loss or a busy browser released at once do not look like a rate, milliseconds. */
const HELD_MS = 400;

/** Requests that share a connection, or an origin's pool of HTTP/1.1 connections. */
interface Carrier {
  members: RecordedRequest[];
  /** Number of the pool, `FetchActivity.pool`. */
  pool: number;
  /** Index of the origin whose server it leads to. */
  origin: number;
  arrivals: ArrivalCurve;
}

/**
 * A recorded load's own transfers, for emulation on candidate networks: each request begins when it did in the recording, on the
 * protocol and (if recorded) the connection that it used. The page's dependencies are left out, so that any difference between a
 * replay and the recording comes from the network.
 */
export class RecordingReplay {
  readonly requests: ReplayedRequest[] = [];
  /** Average rate of all responses, from the first request to the last response, bits per second. */
  readonly averageBps: number;
  /** Average rate of responses over HTTP/3 while any was under way, bits per second; 0 without any. */
  readonly quicBps: number;
  /** The highest rate that responses over TCP held for `HELD_MS`, bits per second; 0 without any. */
  readonly tcpBps: number;
  readonly #graph: PageGraph;
  readonly #servers: ServerProfile[] = [];
  readonly #assignment: Assignment = {};

  /**
   * @param estimate of the same recording
   * @param mayBeQuic where protocols are assumed: whether any of the compared assumptions has a request go over HTTP/3
   */
  constructor(recording: Recording, { path, servers }: NetworkEstimate, mayBeQuic: MayBeQuic = isQuic) {
    const profiles = new Map(servers.map((server) => [server.origin, server]));
    const serverOf = ({ url }: RecordedRequest) => profiles.get(originOf(url) ?? '');
    const rttOf = (request: RecordedRequest) => path.rttMs + serverOf(request)!.extraRttMs;
    const parts = firstPart(
      recording.requests.filter((request) => isTransfer(request) && serverOf(request) !== undefined),
    );
    const transfers = parts.map(({ request }) => request);
    const pools = connectionPools(recording);
    const byCarrier = groupBy(transfers, (request) => carrierKey(request, pools));
    const carriers = [...byCarrier.values()].map((members, pool): Carrier => {
      const [first] = members as [RecordedRequest];
      const origin = this.#originIndex(serverOf(first)!, first.protocol!);
      return { members, pool, origin, arrivals: new ArrivalCurve(members) };
    });
    const carrierOf = new Map(
      carriers.flatMap((carrier) => carrier.members.map((member) => [member, carrier] as const)),
    );
    const slowMs = slowServers(transfers, rttOf, path.downBps);
    // Video is taken as it is played, and sent as it is taken: its time is no sign of losses.
    const playedMsOf = recording.requests.some(isMedia) ? bodyTimes(recording) : null;
    const activities: FetchActivity[] = [];
    for (const { request, isWhole } of parts) {
      const carrier = carrierOf.get(request)!;
      const rttMs = rttOf(request);
      const activity = transferOf(request, activities.length, carrier, rttMs);
      const { origin, thinkMs } = serverOf(request)!;
      activity.thinkMs = isStatic(request) ? (slowMs.get(origin) ?? thinkMs) : thinkOf(request, rttMs);
      const playedMs = isMedia(request) ? playedMsOf?.get(request.id) : undefined;
      // Where the response was cut to a part, no longer than that part took.
      if (playedMs !== undefined)
        activity.bodyMs = Math.min(playedMs, request.endMs - request.phases.responseStartMs!);
      activities.push(activity);
      this.requests.push({
        protocol: request.protocol!,
        mayBeQuic: mayBeQuic(request),
        startMs: activity.delayMs,
        firstByteMs: request.phases.responseStartMs,
        endMs: request.endMs,
        roundTrips: roundTripsOf(request, serverOf(request)!),
        packets: packetsOf(request, carrier.arrivals, rttMs),
        isWhole,
        sized: request.transferBytes !== null || request.bodyBytes !== null,
      });
    }
    for (const carrier of carriers) {
      const [first] = carrier.members as [RecordedRequest];
      const opening = openingOf(carrier, activities.length, rttOf(first), serverOf(first)!);
      if (opening !== null) activities.push(opening);
    }
    const bytes = activities.reduce((sum, { responseBytes }) => sum + responseBytes, 0);
    const firstMs = this.requests.reduce(
      (first, { startMs }) => Math.min(first, startMs),
      Number.POSITIVE_INFINITY,
    );
    const lastMs = this.requests.reduce((last, { endMs }) => Math.max(last, endMs), 0);
    this.averageBps = lastMs > firstMs ? (8000 * bytes) / (lastMs - firstMs) : 0;
    const overQuic = new ArrivalCurve(transfers.filter(({ protocol }) => protocol === 'h3'));
    this.quicBps = (8000 * overQuic.total) / Math.max(1, overQuic.busyMs());
    const overTcp = new ArrivalCurve(transfers.filter(({ protocol }) => protocol !== 'h3'));
    this.tcpBps = busyRate(overTcp, HELD_MS) ?? 0;
    const origins = this.#servers.map(({ origin }) => origin);
    this.#graph = { url: recording.url, origins, activities, client: CLIENT };
  }

  /** The index of a server under a protocol: each is an origin of its own in the emulator, which has one protocol for each. */
  #originIndex({ connectionGroup: _shared, ...server }: ServerProfile, protocol: Protocol): number {
    const origin = `${server.origin}#${protocol}`;
    const known = this.#servers.findIndex((other) => other.origin === origin);
    if (known >= 0) return known;
    this.#assignment[origin] = protocol;
    return this.#servers.push({ ...server, origin, dnsMs: 0, openingDelayMs: 0 }) - 1;
  }

  /**
   * Emulates the transfers on `path`.
   *
   * @throws EndlessLoadError when the emulation takes more than `MAX_EVENTS`
   */
  run(path: NetworkPath, seed = 1): ReplayedTimes {
    const load = emulate(this.#graph, path, this.#servers, this.#assignment, {
      seed,
      waterfall: true,
      maxEvents: MAX_EVENTS,
    });
    const firstByteMs = new Float64Array(this.requests.length);
    const endMs = new Float64Array(this.requests.length);
    for (let index = 0; index < this.requests.length; index++) {
      firstByteMs[index] = load.entries[index]!.firstByteMs;
      endMs[index] = load.entries[index]!.endMs;
    }
    return { firstByteMs, endMs, events: load.events };
  }
}

const isMedia = ({ type }: RecordedRequest): boolean => type === 'media';

const isQuic: MayBeQuic = ({ protocol }) => protocol === 'h3';

function isTransfer({
  protocol,
  fromCache,
  transferBytes,
  status,
  startMs,
  endMs,
}: RecordedRequest): boolean {
  const transferred = !fromCache && transferBytes !== 0 && status !== 0;
  return protocol !== null && transferred && endMs > startMs && startMs >= 0;
}

/** Requests with the same key share a carrier: a multiplexed connection, or an origin's pool of HTTP/1.1 connections. */
function carrierKey(
  { id, url, protocol, connectionId, remoteIp }: RecordedRequest,
  pools: readonly number[],
): string {
  return protocol === 'h1' || connectionId === null
    ? `${protocol} ${originOf(url)} ${pools[id]}`
    : `${protocol} ${connectionId} ${remoteIp ?? ''}`;
}

/** Whether a response is a static file: servers work on documents and API calls. */
function isStatic({ type, requestBodyBytes }: RecordedRequest): boolean {
  if (requestBodyBytes) return false;
  return type !== 'document' && type !== 'iframe' && type !== 'fetch' && type !== 'beacon';
}

function transferOf(
  request: RecordedRequest,
  id: number,
  { origin, pool }: Pick<Carrier, 'origin' | 'pool'>,
  rttMs: number,
): FetchActivity {
  return {
    kind: 'fetch',
    id,
    requestId: request.id,
    url: request.url,
    origin,
    pool,
    type: request.type,
    // The time that a body takes to leave is part of the recorded wait.
    requestBytes: requestBytesOf({ ...request, requestBodyBytes: null }),
    responseBytes: responseBytesOf(request),
    blocksLoad: true,
    renderBlocking: false,
    // All have the same urgency, so that nothing is held back that the recording shows as sent.
    urgency: 2,
    incremental: true,
    after: [],
    delayMs: dispatchedMs(request, rttMs),
  };
}

/** When the browser opened a connection for a request or sent it on an open one, milliseconds. */
function dispatchedMs(request: RecordedRequest, rttMs: number): number {
  return Math.max(request.startMs, request.phases.connectStartMs ?? sentMs(request, rttMs));
}

/**
 * When a request was sent, milliseconds. Where that is withheld, it is a round trip before the response began: the browser may
 * have held the request back until then, and the server's time is unknown.
 */
export function sentMs({ phases, startMs }: RecordedRequest, rttMs: number): number {
  const { requestStartMs, responseStartMs } = phases;
  return requestStartMs ?? Math.max(startMs, (responseStartMs ?? startMs) - rttMs);
}

/**
 * What servers take at least for each of their files where it is longer than an ordinary server takes, milliseconds by origin: the shortest
 * wait less the round trip and the link's time for all that arrived meanwhile. Losses lengthen some waits: what all of a server's files
 * waited is its own time.
 */
function slowServers(
  transfers: readonly RecordedRequest[],
  rttOf: (request: RecordedRequest) => number,
  downBps: number,
): ReadonlyMap<string, number> {
  const arrivals = new ArrivalCurve(transfers);
  const leastMs = new Map<string, number>();
  for (const request of transfers) {
    const { requestStartMs, responseStartMs } = request.phases;
    if (!isStatic(request) || requestStartMs === null || responseStartMs === null) continue;
    const queuedMs = arrivals.transmission(requestStartMs, responseStartMs, downBps);
    const ownMs = responseStartMs - requestStartMs - rttOf(request) - queuedMs;
    const origin = originOf(request.url)!;
    leastMs.set(origin, Math.min(leastMs.get(origin) ?? Number.POSITIVE_INFINITY, ownMs));
  }
  return new Map([...leastMs].filter(([, ms]) => ms > MAX_STATIC_THINK_MS));
}

/** A server's time for a request: its wait less the round trip, milliseconds. */
function thinkOf({ phases }: RecordedRequest, rttMs: number): number {
  const { requestStartMs, responseStartMs } = phases;
  if (requestStartMs === null || responseStartMs === null) return 0;
  return Math.max(0, responseStartMs - requestStartMs - rttMs);
}

function roundTripsOf(request: RecordedRequest, server: ServerProfile): number {
  return request.phases.connectStartMs === null ? 1 : 1 + handshakeRounds(request, server);
}

/** A loss is repaired within this many round trips; earlier ones delay nothing any more. */
const REPAIR_RTTS = 1.5;

function packetsOf(request: RecordedRequest, carrier: ArrivalCurve, rttMs: number): number {
  const own = responseBytesOf(request) / PACKET.tcp.payloadBytes;
  if (request.protocol !== 'h2') return 1 + own;
  const held = carrier.by(request.endMs) - carrier.by(request.endMs - REPAIR_RTTS * rttMs);
  return 1 + Math.max(own, held / PACKET.tcp.payloadBytes);
}

/** A recorded handshake shorter than this share of its minimum was under way before its request. */
const WHOLE_SHARE = 0.8;

/**
 * Creates a transfer that opens a connection which was open, or nearly so, when its first request came: browsers preconnect,
 * and most of such a handshake is not recorded. Null when the first request shows its own handshake.
 */
function openingOf(carrier: Carrier, id: number, rttMs: number, server: ServerProfile): FetchActivity | null {
  const first = carrier.members.reduce((a, b) => (dispatchedMs(b, rttMs) < dispatchedMs(a, rttMs) ? b : a));
  const { requestStartMs, responseStartMs } = first.phases;
  const openingMs = handshakeRounds(first, server) * rttMs;
  if ((requestStartMs === null && responseStartMs === null) || isHandshakeWhole(first, openingMs))
    return null;
  const opening = transferOf(first, id, carrier, rttMs);
  const delayMs = Math.max(0, sentMs(first, rttMs) - openingMs);
  return { ...opening, requestBytes: 1, responseBytes: 1, delayMs };
}

/** Whether the phases show a whole handshake, by its minimum duration. */
function isHandshakeWhole(request: RecordedRequest, openingMs: number): boolean {
  const { connectStartMs, requestStartMs } = request.phases;
  if (connectStartMs === null || requestStartMs === null) return false;
  return requestStartMs - connectStartMs > WHOLE_SHARE * openingMs;
}

function handshakeRounds({ protocol, url }: RecordedRequest, { tcpEndsNearby }: ServerProfile): number {
  return handshakeOf(protocol!, url.startsWith('https:') ? '1.3' : null, { tcpEndsNearby }).rounds.length;
}
