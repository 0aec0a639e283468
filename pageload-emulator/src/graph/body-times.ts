import { groupBy, type RecordedRequest, type Recording } from '@hopwise/contract';
import { PACKET } from '../network/packet.ts';
import { MAX_QUEUE_MS } from '../network/priors.ts';
import { ArrivalCurve } from '../recording/arrival-curve.ts';
import { likelyConnection } from '../recording/likely-connection.ts';
import { unseenRoundTrip } from '../recording/likely-extra.ts';
import { busyRate } from '../recording/link-rate.ts';
import { timingsByOrigin } from '../recording/origin-timings.ts';
import { pathRoundTrip } from '../recording/path-round-trip.ts';
import { responseBytesOf } from '../recording/sizes.ts';
import { originOf } from '../util/url.ts';
import type { KnownLink } from './known-link.ts';
import { ResponseEnds } from './response-ends.ts';

/** The link's rate is taken over this time. */
const RATE_WINDOW_MS = 200;
/** The link's rate where too little arrived to show it, bits per second; assumed. */
const ASSUMED_BPS = 20e6;
/** Smallest initial window in use, packets (RFC 6928). */
const INITIAL_WINDOW = 10;
/** What arrived meanwhile may have taken this many times its transmission time: it came with the window's bursts. */
const LINK_TIMES = 1.5;
/** A body is slow when the network explains at most this share of its time. */
const MAX_EXPLAINED = 0.5;
/** A loss is repaired within a round trip and this time. Chosen on the training split of `bench -- reading`. */
const REPAIR_MS = 50;
/** A queue that overflows drops the last packets of a window too, which a timer repairs: TCP's shortest in Linux (`TCP_RTO_MIN`). */
const TIMER_MS = 200;
/** A queue may have overflowed where the link carried something for this share of the time. */
const BUSY_SHARE = 0.1;
/** Time beyond what the network explains that shows a loss: most of a round trip, but not the browser's own delays. */
const STALL_RTTS = 0.8;
const MIN_STALL_MS = 20;
/**
 * A connection whose responses all take this much longer than the network explains, milliseconds, was not held up by losses while others came
 * soundly: even a packet that is lost three times in a row is repaired sooner (`TIMER_MS`, doubled each time).
 */
const LONG_MS = 7 * TIMER_MS;
/** Losses before any response was seen: half a loss in this many packets. */
const PRIOR_STALLS = 0.5;
const PRIOR_PACKETS = 100;
const MAX_LOSS = 0.1;

/** The body of a response on its way. */
interface Body {
  request: RecordedRequest;
  origin: string;
  /** The name of what carried it: a multiplexed connection, or the request itself. */
  carrier: string;
  /** When its first byte came, and its last, milliseconds after navigationStart. */
  fromMs: number;
  toMs: number;
  /** From the one to the other, milliseconds. */
  bodyMs: number;
  rttMs: number;
  /** Its own packets. */
  ownPackets: number;
  /** Packets that its connection carried meanwhile. */
  packets: number;
  /** What the link, or a policer, takes for what may have been ahead of it, milliseconds. */
  linkMs: number;
  /** What the link takes for all that arrived meanwhile, whether or not it was ahead, milliseconds. */
  carriedMs: number;
  /** What windows, the link and a policer take, without a loss but those of UDP alone, milliseconds. */
  explainedMs: number;
  /**
   * How much longer it took, once all others had ended and nothing was ahead of it any more, than windows and the link take for the whole of it;
   * 0 where they take most of that time.
   */
  unexplainedAloneMs: number;
  /** What windows that losses keep small take for all that its connection carried meanwhile, milliseconds. */
  smallWindowsMs: number;
  /** Whether it took most of a round trip longer than that, as after a loss. */
  isStalled: boolean;
}

/**
 * Finds the responses that came slowly because of their servers, which sent them in parts or fetched them from a slow origin: those whose
 * time neither link and other responses, nor the connection's window, nor the repair of losses explain.
 *
 * @param link what arrivals show of it where it is not known yet
 * @returns milliseconds from a response's first byte to its last, by `RecordedRequest.id`
 */
export function bodyTimes(recording: Recording, link?: KnownLink): ReadonlyMap<number, number> {
  const bodies = bodiesOf(recording, link);
  const stalled = bodies.filter((body) => body.isStalled);
  const neighbours = new Neighbours(bodies);
  const loss = lossSeen(bodies, stalled.length);
  const heldUp = heldUpTogether(stalled);
  const slow = stalled.filter((body) => {
    const { request, bodyMs, rttMs, packets, linkMs, explainedMs, unexplainedAloneMs } = body;
    const unexplainedMs = explainedMs < MAX_EXPLAINED * bodyMs ? bodyMs - explainedMs : unexplainedAloneMs;
    if (unexplainedMs === 0) return false;
    // Whether UDP is policed, or loses packets of its own, is not known before the link is.
    if (request.protocol === 'h3' && link === undefined) return false;
    // A policer starves single connections, whatever it leaves to others.
    const isPoliced = request.protocol === 'h3' && link?.udp.kind === 'policed';
    if (!isPoliced && neighbours.hasSlowServer(body)) return true;
    const repairMs = rttMs + (linkMs > BUSY_SHARE * bodyMs ? TIMER_MS : REPAIR_MS);
    const repairsMs = (1 + packets * loss) * repairMs;
    if (heldUp.has(body) || unexplainedMs <= repairsMs) return false;
    return neighbours.hasOwnCause(body);
  });
  // What slows most of a page is the network, whatever is known of it.
  if (slow.length > bodies.length / 2) return new Map();
  return new Map(slow.map(({ request, bodyMs }) => [request.id, bodyMs]));
}

/** Packets of bodies that came without a stall, and with one. */
class Carried {
  sound = 0;
  stalled = 0;

  add({ isStalled, ownPackets }: Body): void {
    if (isStalled) this.stalled += ownPackets;
    else this.sound += ownPackets;
  }

  get isMostlySound(): boolean {
    return this.sound > this.stalled;
  }

  get isEmpty(): boolean {
    return this.sound + this.stalled === 0;
  }
}

/** Bodies by what they may have been slowed with. */
class Neighbours {
  readonly #byCarrier: ReadonlyMap<string, readonly Body[]>;
  readonly #byOrigin: ReadonlyMap<string, readonly Body[]>;
  readonly #all: readonly Body[];

  constructor(bodies: readonly Body[]) {
    this.#all = bodies;
    this.#byCarrier = groupBy(bodies, ({ carrier }) => carrier);
    this.#byOrigin = groupBy(bodies, ({ origin }) => origin);
  }

  /**
   * Whether most of what came at the same time as a body came without a stall: losses slow all that a connection carries, and the queue of
   * a busy link overflows for all new connections to an origin.
   */
  hasOwnCause(body: Body): boolean {
    const isLinkBusy = body.carriedMs >= MAX_EXPLAINED * body.bodyMs;
    const others = isLinkBusy ? this.#byOrigin.get(body.origin)! : this.#byCarrier.get(body.carrier)!;
    const meanwhile = new Carried();
    for (const other of others) {
      if (other === body || other.fromMs > body.toMs || other.toMs < body.fromMs) continue;
      meanwhile.add(other);
    }
    return meanwhile.isMostlySound || meanwhile.stalled === 0;
  }

  /**
   * Whether a body took so long that its server is slow, even if all that its connection carried meanwhile was: the connection carried
   * less than it would have under heavy losses, and most of what came from other origins came without a stall, at the same time or, where
   * nothing else came then, in the whole load, so that neither the link nor what is lost on it explains that.
   */
  hasSlowServer({
    origin,
    carrier,
    fromMs,
    toMs,
    bodyMs,
    explainedMs,
    smallWindowsMs,
    ownPackets,
  }: Body): boolean {
    // A connection that kept carrying was slow by its own losses: it meets more of them than others that carry little.
    if (bodyMs - explainedMs <= LONG_MS || smallWindowsMs >= MAX_EXPLAINED * bodyMs) return false;
    const meanwhile = new Carried();
    const ever = new Carried();
    for (const other of this.#all) {
      if (other.origin === origin || other.carrier === carrier) continue;
      ever.add(other);
      if (other.fromMs <= toMs && other.toMs >= fromMs) meanwhile.add(other);
    }
    const others = meanwhile.isEmpty ? ever : meanwhile;
    return others.isMostlySound && others.sound >= ownPackets;
  }
}

/** Bodies of one connection that end together: it is a lost packet that holds up all of them. */
function heldUpTogether(stalled: readonly Body[]): ReadonlySet<Body> {
  const held = [...groupBy(stalled, ({ carrier }) => carrier).values()].flatMap((own) => {
    const ordered = own.toSorted((a, b) => a.request.endMs - b.request.endMs);
    const isClose = (a: Body | undefined, b: Body | undefined) =>
      a !== undefined && b !== undefined && b.request.endMs - a.request.endMs <= MIN_STALL_MS;
    return ordered.filter((body, at) => isClose(ordered[at - 1], body) || isClose(body, ordered[at + 1]));
  });
  return new Set(held);
}

function bodiesOf(recording: Recording, link?: KnownLink): Body[] {
  const { requests } = recording;
  const origins = timingsByOrigin(recording);
  const { rttMs: nearestMs } = pathRoundTrip(origins.values());
  const arrivals = new ArrivalCurve(requests);
  const overQuic = new ArrivalCurve(requests.filter(({ protocol }) => protocol === 'h3'));
  const bps = link?.downBps ?? busyRate(arrivals, RATE_WINDOW_MS) ?? ASSUMED_BPS;
  const queueMs = link?.maxQueueMs ?? MAX_QUEUE_MS;
  const ends = new ResponseEnds(requests);
  const carried = new Map(
    [...groupBy(requests, likelyConnection)].map(([name, own]) => [name, new ArrivalCurve(own)]),
  );
  return requests.flatMap((request) => {
    const { responseStartMs } = request.phases;
    const own = origins.get(originOf(request.url) ?? '');
    const isCopy = request.fromCache || request.transferBytes === 0;
    if (responseStartMs === null || isCopy || own === undefined) return [];
    const carrier = likelyConnection(request);
    const carriedBytes = carried.get(carrier)!;
    const ownBytes = responseBytesOf(request);
    const bytes = Math.max(ownBytes, carriedBytes.by(request.endMs) - carriedBytes.by(responseStartMs));
    const packets = bytes / PACKET.tcp.payloadBytes;
    const rttMs = (own.fromHandshake ? own.rttMs : unseenRoundTrip(own.rttMs, nearestMs)) ?? 0;
    const udp = request.protocol === 'h3' ? link?.udp : undefined;
    const ownLoss = udp?.kind === 'lossy' ? udp.loss : 0;
    const windows = Math.ceil(Math.log2(packets / INITIAL_WINDOW + 1)) + packets / meanWindow(ownLoss);
    const windowsMs = windows * rttMs;
    const unseenBytes = isSized(request) ? 0 : ownBytes;
    const carriedMs = arrivals.transmission(responseStartMs, request.endMs, bps) + (8000 * unseenBytes) / bps;
    // Its first byte came: what others sent is ahead of each further window at most as a full queue.
    const queuedMs = Math.min(carriedMs, windows * queueMs + (8000 * bytes) / bps);
    const policedMs =
      udp?.kind === 'policed' ? overQuic.transmission(responseStartMs, request.endMs, udp.bps) : 0;
    const explainedMs = windowsMs + Math.max(LINK_TIMES * queuedMs, policedMs);
    const aloneMs = request.endMs - Math.max(responseStartMs, ends.findLastBeside(request));
    const explainedAloneMs = windowsMs + Math.max((LINK_TIMES * 8000 * ownBytes) / bps, policedMs);
    const bodyMs = request.endMs - responseStartMs;
    return {
      request,
      origin: own.origin,
      carrier,
      fromMs: responseStartMs,
      toMs: request.endMs,
      bodyMs,
      rttMs,
      ownPackets: ownBytes / PACKET.tcp.payloadBytes,
      packets,
      linkMs: Math.max(queuedMs, policedMs),
      carriedMs,
      explainedMs,
      unexplainedAloneMs: explainedAloneMs < MAX_EXPLAINED * aloneMs ? aloneMs - explainedAloneMs : 0,
      smallWindowsMs: (packets / meanWindow(MAX_LOSS)) * rttMs,
      isStalled: bodyMs - explainedMs > Math.max(MIN_STALL_MS, STALL_RTTS * rttMs),
    };
  });
}

/**
 * Returns the mean congestion window under random loss, packets (Mathis et al., "The macroscopic behavior of the TCP congestion avoidance
 * algorithm", CCR 1997, equation 3).
 *
 * @param loss events per packet; there is no bound without any
 */
const meanWindow = (loss: number): number => Math.sqrt(1.5 / loss);

const isSized = ({ transferBytes, bodyBytes }: RecordedRequest): boolean =>
  transferBytes !== null || bodyBytes !== null;

/** The losses per packet that the bodies show if losses are all that slows them. */
function lossSeen(bodies: readonly Body[], stalls: number): number {
  const sum = bodies.reduce((packets, body) => packets + body.packets, PRIOR_PACKETS);
  return Math.min(MAX_LOSS, (stalls + PRIOR_STALLS) / sum);
}
