import type {
  Assignment,
  NetworkPath,
  Protocol,
  RecordedRequest,
  Recording,
  ServerProfile,
} from '@hopwise/contract';
import { CHROMIUM_COSTS, type ClientCosts, NO_COSTS } from '../client/client-costs.ts';
import { type Emulated, emulate } from '../emulate/emulate.ts';
import type { FetchActivity, PageGraph } from '../graph/page-graph.ts';
import { requestBytesOf, responseBytesOf } from '../recording/sizes.ts';
import { handshakeOf } from '../transport/handshake.ts';
import { originOf } from '../util/url.ts';
import { ArrivalCurve } from './arrival-curve.ts';
import type { NetworkEstimate } from './estimate-network.ts';

/** One request of a recorded load as the network saw it; milliseconds after navigationStart. */
export interface ReplayedRequest {
  protocol: Protocol;
  /** Index of the connection, or of the pool of connections, that carried it. */
  carrier: number;
  /** When the browser turned to the network: opened a connection for it, or sent it on an open one. */
  startMs: number;
  /** Null where the browser withheld it. */
  firstByteMs: number | null;
  endMs: number;
  /** Round trips that it takes on any link: handshakes that it waits for, and its own. */
  roundTrips: number;
  /** Packets whose loss could hold it up: its own, or on a shared TCP connection those of others that came just before. */
  packets: number;
  /** Whether its size was recorded: its time says nothing otherwise. */
  sized: boolean;
}

/** When each request of a replay got its first byte and ended, in order of `Replay.requests`. */
export interface ReplayedTimes {
  firstByteMs: Float64Array;
  endMs: Float64Array;
  /** Events of the emulation, a measure of its cost. */
  events: number;
}

/** Ten times what one takes on a link like that of the recording. */
const MAX_EVENTS = 100_000;
/** What comes later says little more, and a load with so many is dear to emulate again and again. */
const MAX_REQUESTS = 250;
const PACKET_BYTES = 1_430;
/**
 * Requests are replayed from when they left the browser's processes; what responses take there is taken to be processor
 * time, which crowds like them.
 */
const CLIENT: ClientCosts = { ...NO_COSTS, responseMs: 2, quicPacketMs: CHROMIUM_COSTS.quicPacketMs };
/** Where an origin is served by several carriers, each is an origin of its own to the emulator. */
const CARRIER_MARK = '#';

/**
 * A recorded load's own transfers, to be emulated on networks that might have carried them: each request
 * begins when it did in the recording, on the protocol and (where recorded) the connection that it really used. What
 * the page makes of a late response is left out of it, so that a difference between a replay and the
 * recording is the network's, request by request.
 */
export class Replay {
  readonly requests: ReplayedRequest[] = [];
  /** At which all responses came, from the first request to the last response, bits per second. */
  readonly averageBps: number;
  readonly #graph: PageGraph;
  readonly #servers: ServerProfile[] = [];
  readonly #assignment: Assignment = {};

  /** @param estimate servers and round trips of the recording */
  constructor(recording: Recording, estimate: NetworkEstimate) {
    const { path, servers } = estimate;
    const serverOf = new Map(servers.map((server) => [server.origin, server]));
    const carriers = new Map<string, RecordedRequest[]>();
    const kept: { request: RecordedRequest; carrier: number }[] = [];
    for (const request of recording.requests) {
      if (kept.length >= MAX_REQUESTS) break;
      const origin = originOf(request.url);
      if (origin === null || !isTransfer(request) || !serverOf.has(origin)) continue;
      const key = carrierKey(request, origin);
      const others = carriers.get(key);
      if (others) others.push(request);
      else carriers.set(key, [request]);
      kept.push({ request, carrier: [...carriers.keys()].length - 1 });
    }
    const indexOf = new Map([...carriers.keys()].map((key, index) => [key, index]));
    const activities: FetchActivity[] = [];
    const origins: string[] = [];
    for (const [index, members] of [...carriers.values()].entries()) {
      const first = members[0]!;
      const server = serverOf.get(originOf(first.url)!)!;
      const name = `${server.origin}${CARRIER_MARK}${index}`;
      origins.push(name);
      const { connectionGroup: _shared, ...own } = server;
      this.#servers.push({ ...own, origin: name, dnsMs: 0 });
      this.#assignment[name] = first.protocol!;
    }
    const curves = [...carriers.values()].map((members) => new ArrivalCurve(members));
    for (const { request } of kept) {
      const carrier = indexOf.get(carrierKey(request, originOf(request.url)!))!;
      const server = serverOf.get(originOf(request.url)!)!;
      const activity = transferOf(request, activities.length, carrier);
      activity.thinkMs = isStatic(request)
        ? server.thinkMs
        : thinkOf(request, path.rttMs + server.extraRttMs);
      activities.push(activity);
      const { responseStartMs } = request.phases;
      this.requests.push({
        protocol: request.protocol!,
        carrier,
        startMs: activity.delayMs,
        firstByteMs: responseStartMs,
        endMs: request.endMs,
        roundTrips: roundTripsOf(request),
        packets: packetsOf(request, curves[carrier]!, path.rttMs + server.extraRttMs),
        sized: request.transferBytes !== null || request.bodyBytes !== null,
      });
    }
    for (const [carrier, members] of [...carriers.values()].entries()) {
      const opening = openingOf(
        members,
        carrier,
        activities,
        path.rttMs + this.#servers[carrier]!.extraRttMs,
      );
      if (opening !== null) activities.push(opening);
    }
    const bytes = activities.reduce((sum, { responseBytes }) => sum + responseBytes, 0);
    const firstMs = this.requests.reduce(
      (least, { startMs }) => Math.min(least, startMs),
      Number.POSITIVE_INFINITY,
    );
    const lastMs = this.requests.reduce((most, { endMs }) => Math.max(most, endMs), 0);
    this.averageBps = lastMs > firstMs ? (8000 * bytes) / (lastMs - firstMs) : 0;
    this.#graph = {
      url: recording.url,
      origins,
      activities,
      client: CLIENT,
    };
  }

  /**
   * Emulates the transfers on `path`.
   *
   * @throws EndlessLoadError when that takes too long
   */
  run(path: NetworkPath, seed = 1): ReplayedTimes {
    const load: Emulated = emulate(this.#graph, path, this.#servers, this.#assignment, {
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

/** Connections that carry one request at a time are a pool of their origin's. */
function carrierKey({ protocol, connectionId, remoteIp }: RecordedRequest, origin: string): string {
  return protocol === 'h1' || connectionId === null
    ? `${protocol} ${origin}`
    : `${protocol} ${connectionId} ${remoteIp ?? ''}`;
}

/** Servers work on documents and on answers to scripts. */
function isStatic({ type }: RecordedRequest): boolean {
  return type !== 'document' && type !== 'iframe' && type !== 'fetch' && type !== 'beacon';
}

function transferOf(request: RecordedRequest, id: number, origin: number): FetchActivity {
  return {
    kind: 'fetch',
    id,
    requestId: request.id,
    url: request.url,
    origin,
    type: request.type,
    requestBytes: requestBytesOf(request),
    responseBytes: responseBytesOf(request),
    blocksLoad: true,
    renderBlocking: false,
    // Of one urgency: nothing is held back that the recording shows as sent.
    urgency: 2,
    incremental: true,
    after: [],
    delayMs: turnedToNetwork(request),
  };
}

function turnedToNetwork({ phases, startMs }: RecordedRequest): number {
  return Math.max(startMs, phases.connectStartMs ?? phases.requestStartMs ?? startMs);
}

/** Time that a server worked on a request, as far as the round trip does not explain its wait. */
function thinkOf({ phases }: RecordedRequest, rttMs: number): number {
  const { requestStartMs, responseStartMs } = phases;
  if (requestStartMs === null || responseStartMs === null) return 0;
  return Math.max(0, responseStartMs - requestStartMs - rttMs);
}

function roundTripsOf(request: RecordedRequest): number {
  return request.phases.connectStartMs === null ? 1 : 1 + handshakeRounds(request);
}

/** A loss is repaired within this many round trips; what was lost before that holds nothing up any more. */
const REPAIR_RTTS = 1.5;

function packetsOf(request: RecordedRequest, carrier: ArrivalCurve, rttMs: number): number {
  const own = responseBytesOf(request) / PACKET_BYTES;
  if (request.protocol !== 'h2') return 1 + own;
  const held = carrier.by(request.endMs) - carrier.by(request.endMs - REPAIR_RTTS * rttMs);
  return 1 + Math.max(own, held / PACKET_BYTES);
}

/** A handshake seen shorter than this share of what it takes was under way before the request that shows it. */
const WHOLE_SHARE = 0.8;

/**
 * Opens a connection that was open, or nearly so, when its first request came: browsers prepare some, and
 * hide most of the handshake of those. Null where the first request shows its own handshake.
 */
function openingOf(
  members: readonly RecordedRequest[],
  origin: number,
  activities: readonly FetchActivity[],
  rttMs: number,
): FetchActivity | null {
  let first = members[0]!;
  for (const member of members) if (turnedToNetwork(member) < turnedToNetwork(first)) first = member;
  const { requestStartMs } = first.phases;
  if (requestStartMs === null || isHandshakeWhole(first, rttMs)) return null;
  const opening = transferOf(first, activities.length, origin);
  const delayMs = Math.max(0, requestStartMs - handshakeRounds(first) * rttMs);
  return { ...opening, requestBytes: 1, responseBytes: 1, delayMs };
}

/** Whether the phases hold a handshake of the length that one takes at least. */
function isHandshakeWhole(request: RecordedRequest, rttMs: number): boolean {
  const { connectStartMs, requestStartMs } = request.phases;
  if (connectStartMs === null || requestStartMs === null) return false;
  return requestStartMs - connectStartMs > WHOLE_SHARE * handshakeRounds(request) * rttMs;
}

function handshakeRounds({ protocol, url }: RecordedRequest): number {
  return handshakeOf(protocol!, url.startsWith('https:') ? '1.3' : null).rounds.length;
}
