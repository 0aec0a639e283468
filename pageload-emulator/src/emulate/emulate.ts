import type { Assignment, NetworkPath, Protocol, ServerProfile, WaterfallEntry } from '@hopwise/contract';
import { type ClientCosts, ClientThread, NO_COSTS } from '../client/client-costs.ts';
import { DelayableLimit } from '../client/delayable-limit.ts';
import { LowPriorityGate } from '../client/low-priority-gate.ts';
import { type CompiledActivity, compileGraph } from '../graph/compiled-graph.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import type { OriginCounters } from '../http/origin-client.ts';
import { OriginClients } from '../http/origin-clients.ts';
import { PACKET } from '../network/packet.ts';
import { defaultServer } from '../network/server-defaults.ts';
import { BurstPool } from '../transport/burst.ts';
import { type EventHandler, EventQueue } from '../transport/event-queue.ts';
import { ByteOrder } from '../transport/head-of-line-blocking.ts';
import { SharedPath } from '../transport/path/shared-path.ts';
import type { SimulationContext } from '../transport/simulation-context.ts';
import { type Segment, SegmentPool, type Stream, type StreamOwner } from '../transport/stream.ts';
import type { Trace } from '../transport/trace.ts';

export interface EmulateOptions {
  /** Seed of the random losses; loads without random loss are the same for every seed. Default 1. */
  seed?: number;
  /** Whether to continue after the load event and return an entry for every request. Default false. */
  waterfall?: boolean;
  /** Is called for events on the connections. */
  trace?: Trace;
  /** Events after which the load is abandoned. Default 1,000,000. */
  maxEvents?: number;
}

/** One origin's counters and protocol. */
interface OriginOutcome extends OriginCounters {
  origin: string;
  protocol: Protocol;
}

/** One emulated page load. */
export interface Emulated {
  /** navigationStart to the end of everything that the load event waits for, milliseconds. */
  pltMs: number;
  /** When everything that blocks rendering has arrived, milliseconds; null when nothing blocks rendering. */
  firstPaintMs: number | null;
  /** One entry for each request, in order of the graph's fetches; empty without `waterfall`. */
  entries: WaterfallEntry[];
  /** End of each activity by its id, milliseconds; negative for those that had not ended at the load event. */
  endMs: Float64Array;
  /** The origins that had requests, in order of `graph.origins`. */
  origins: OriginOutcome[];
  /** Response bytes handed to the page. */
  bytes: number;
  /** Number of simulated events, a measure of the emulation's cost. */
  events: number;
}

/** A page load that cannot be emulated, such as one on a path without a rate. */
export class EmulationError extends Error {
  override readonly name: string = 'EmulationError';
}

/** A load that was abandoned before its load event: its path loses too much, or the page is too large. */
export class EndlessLoadError extends EmulationError {
  override readonly name = 'EndlessLoadError';
  /** Emulated time without a load event; null where none was emulated. */
  readonly afterMs: number | null;

  constructor(message: string, afterMs: number | null) {
    super(message);
    this.afterMs = afterMs;
  }
}

/**
 * Emulates one load of a page from a cold start: each fetch begins when all its dependencies have happened and travels under
 * its origin's protocol over the shared bottleneck; computations take turns on one main thread.
 *
 * @param graph must not change: its compiled form is kept for the next load
 * @param assignment protocol of each origin; an origin without one gets h2, a plain `http:` origin h1
 * @throws EmulationError when figures of the path are out of range (rates, round trip, loss)
 * @throws EndlessLoadError when the load event has not come after `maxEvents`. Requests beyond the limit but after the load
 *   event are left out instead.
 */
export function emulate(
  graph: PageGraph,
  path: NetworkPath,
  servers: readonly ServerProfile[],
  assignment: Assignment,
  options: EmulateOptions = {},
): Emulated {
  checkPath(path);
  return new PageLoad(graph, path, servers, assignment, options).run();
}

/** The smallest burst grows with the page, so that a page travels in about this many bursts. */
const USUAL_BURSTS = 200;
/** The smallest burst grows to this many packets at most, except on very large pages. */
const USUAL_MAX_BURST = 16;
/** On those it grows by a packet for each of these bytes of the page, which bounds the cost. */
const BYTES_PER_BURST_PACKET = 30e6;

/** A hundred times the events of a heavy page. */
const MAX_EVENTS = 1_000_000;

/** Chromium delays requests below its medium priority; see `priorityOf`. */
const MIN_DELAYABLE_URGENCY = 3;

const BEGIN = 0;
const COMPUTED = 1;
const DISPATCHED = 2;
const NOTICED = 3;
const ISSUED = 4;
const HANDLED = 5;
const PRECONNECT = 6;

class PageLoad implements EventHandler, StreamOwner {
  readonly #graph: PageGraph;
  readonly #costs: ClientCosts;
  readonly #options: EmulateOptions;
  readonly #events = new EventQueue();
  readonly #dispatched = this.#events.createLane();
  readonly #noticed = this.#events.createLane();
  readonly #context: SimulationContext;
  readonly #servers: ServerProfile[];
  readonly #protocols: Protocol[];
  readonly #clients: OriginClients;
  readonly #activities: readonly CompiledActivity[];
  /** Number of each activity's dependencies that have not happened yet. */
  readonly #openDependencies: number[];
  /** Index of each activity's first dependant that has not begun. */
  readonly #nextDependant: number[];
  readonly #gate: LowPriorityGate<Stream>;
  readonly #delayable: DelayableLimit<Stream>;
  readonly #streams: (Stream | null)[];
  readonly #endMs: Float64Array;
  #blocking: number;
  #unfinished: number;
  #pltMs = 0;
  #firstPaintMs: number | null = null;
  #mainThreadFreeMs = 0;
  #bytes = 0;
  #preconnected = false;

  constructor(
    graph: PageGraph,
    path: NetworkPath,
    servers: readonly ServerProfile[],
    assignment: Assignment,
    options: EmulateOptions,
  ) {
    this.#graph = graph;
    this.#options = options;
    this.#costs = graph.client ?? NO_COSTS;
    this.#delayable = new DelayableLimit(
      (stream) => this.#send(stream),
      (origin) => this.#clients.multiplexes(origin),
    );
    this.#gate = new LowPriorityGate((stream) => this.#limit(stream));
    const { activities, dependencies, blocking, bytes } = compileGraph(graph);
    this.#context = {
      events: this.#events,
      path: new SharedPath(path, options.seed ?? 1),
      client: new ClientThread(),
      quicPacketMs: this.#costs.quicPacketMs,
      minBurst: minBurst(bytes),
      arrivals: this.#events.createLane(),
      reads: this.#events.createLane(),
      segments: new SegmentPool(),
      bursts: new BurstPool(),
      trace: options.trace ?? null,
    };
    const byOrigin = new Map(servers.map((server) => [server.origin, server]));
    this.#servers = graph.origins.map((origin) => byOrigin.get(origin) ?? defaultServer(origin));
    this.#protocols = graph.origins.map(
      (origin) => assignment[origin] ?? (origin.startsWith('http:') ? 'h1' : 'h2'),
    );
    this.#clients = new OriginClients(this.#context, this.#servers, this.#protocols, path.udp, graph);
    this.#activities = activities;
    this.#openDependencies = dependencies.slice();
    this.#nextDependant = new Array<number>(activities.length).fill(0);
    this.#streams = new Array<Stream | null>(activities.length).fill(null);
    this.#endMs = new Float64Array(activities.length).fill(-1);
    this.#blocking = blocking;
    this.#unfinished = activities.length;
  }

  run(): Emulated {
    for (let id = 0; id < this.#activities.length; id++) {
      if (this.#activities[id]!.dependencies === 0) this.#schedule(id);
    }
    let events = 0;
    const { waterfall: untilAll = false, maxEvents = MAX_EVENTS } = this.#options;
    while (untilAll ? this.#unfinished > 0 : this.#blocking > 0) {
      if (!this.#events.step())
        throw new EmulationError('the page graph has a cycle: nothing more can begin');
      if (++events < maxEvents) continue;
      if (this.#blocking === 0) break;
      throw new EndlessLoadError(
        `the page does not load on this network: no load event after ${Math.round(this.#events.now / 1000)} s`,
        this.#events.now,
      );
    }
    return {
      pltMs: this.#pltMs,
      firstPaintMs: this.#firstPaintMs,
      entries: untilAll ? this.#entries() : [],
      endMs: this.#endMs,
      origins: this.#outcomes(),
      bytes: this.#bytes,
      events,
    };
  }

  handle(kind: number, payload: unknown): void {
    const id = payload as number;
    switch (kind) {
      case BEGIN:
        this.#begin(id);
        break;
      case COMPUTED:
        this.#finish(id);
        break;
      case DISPATCHED:
        this.#dispatch(this.#streams[id]!);
        break;
      case NOTICED:
        this.#endFetch(this.#streams[id]!);
        break;
      case ISSUED:
        this.#issue(id);
        break;
      case HANDLED:
        this.#handleResponse(this.#streams[id]!);
        break;
      case PRECONNECT:
        for (const { origin, pool } of this.#graph.preconnects!.connections)
          this.#clients.of(origin, pool).connect();
        break;
    }
  }

  onData(stream: Stream): void {
    const { id, received, responseBytes, inPartsBytes } = stream;
    this.#clients.answered(this.#activities[id]!.origin);
    if (!this.#preconnected && id === this.#graph.preconnects?.activity) this.#preconnect();
    const whole = received >= responseBytes;
    if (inPartsBytes > 0) this.#satisfyUpTo(id, whole ? responseBytes - 1 : received);
    if (!whole) return;
    const { now } = this.#events;
    const { responseMs, responseDelayMs } = this.#costs;
    const noticedMs = this.#context.client.run(now, responseMs) + responseDelayMs;
    if (noticedMs > now) this.#events.append(this.#noticed, noticedMs, this, NOTICED, id);
    else this.#endFetch(stream);
  }

  #preconnect(): void {
    this.#preconnected = true;
    this.#events.scheduleRare(this.#events.now + this.#graph.preconnects!.delayMs, this, PRECONNECT);
  }

  /** Satisfies the dependants that need at most `bytes` of the activity's response. */
  #satisfyUpTo(id: number, bytes: number): void {
    const { dependants } = this.#activities[id]!;
    let next = this.#nextDependant[id]!;
    while (next < dependants.length && dependants[next]!.bytes <= bytes) {
      this.#nextDependant[id] = next + 1;
      this.#satisfy(dependants[next]!.activity);
      next++;
    }
  }

  #endFetch(stream: Stream): void {
    if (this.#costs.handleMs > 0) {
      // The next request may use the connection while the page is still busy.
      this.#release(stream);
      this.#events.schedule(this.#occupyMainThread(this.#costs.handleMs), this, HANDLED, stream.id);
    } else {
      this.#handleResponse(stream);
      this.#release(stream);
    }
  }

  #handleResponse({ id, received }: Stream): void {
    this.#satisfyUpTo(id, received);
    this.#bytes += received;
    this.#finish(id);
  }

  #release(stream: Stream): void {
    const { origin, pool, hold } = this.#activities[stream.id]!;
    this.#clients.of(origin, pool).done(stream);
    if (hold !== null) this.#gate.done(hold);
    this.#delayable.done(stream, origin);
  }

  #schedule(id: number): void {
    const { delayMs } = this.#activities[id]!;
    if (delayMs > 0) this.#events.schedule(this.#events.now + delayMs, this, BEGIN, id);
    else this.#begin(id);
  }

  #begin(id: number): void {
    const activity = this.#activities[id]!;
    if (!activity.isFetch) {
      const endMs = this.#occupyMainThread(activity.durationMs + this.#costs.runMs);
      this.#events.schedule(endMs, this, COMPUTED, id);
    } else if (this.#costs.issueMs > 0 && activity.dependencies > 0) {
      this.#events.schedule(this.#occupyMainThread(this.#costs.issueMs), this, ISSUED, id);
    } else {
      this.#issue(id);
    }
  }

  /** Appends a task to the main thread's and returns when it ends. */
  #occupyMainThread(taskMs: number): number {
    this.#mainThreadFreeMs = Math.max(this.#mainThreadFreeMs, this.#events.now) + taskMs;
    return this.#mainThreadFreeMs;
  }

  #issue(id: number): void {
    const activity = this.#activities[id]!;
    const { urgency, incremental, requestBytes, responseBytes, thinkMs, bodyMs, inPartsBytes, origin } =
      activity;
    const stream: Stream = {
      owner: this,
      id,
      urgency,
      incremental,
      requestBytes,
      responseBytes,
      thinkMs: thinkMs < 0 ? this.#servers[origin]!.thinkMs : thinkMs,
      bodyMs,
      inPartsBytes,
      unmade: responseBytes,
      unwritten: 0,
      unsent: responseBytes,
      received: 0,
      order: new ByteOrder<Segment>(),
      startMs: this.#events.now,
      sentMs: -1,
      firstByteMs: -1,
    };
    this.#streams[id] = stream;
    if (activity.hold !== null) this.#gate.pass(stream, activity.hold);
    else this.#limit(stream);
  }

  #limit(stream: Stream): void {
    const { origin, urgency, hold } = this.#activities[stream.id]!;
    // Whether a script has low priority shows in the recording: then it was held back.
    this.#delayable.pass(stream, urgency, origin, urgency >= MIN_DELAYABLE_URGENCY || hold !== null);
  }

  #send(stream: Stream): void {
    const { now } = this.#events;
    const { requestMs, quicRequestMs, requestDelayMs } = this.#costs;
    const isOverQuic = this.#protocols[this.#activities[stream.id]!.origin] === 'h3';
    const workMs = requestMs + (isOverQuic ? quicRequestMs : 0);
    const dispatchedMs = this.#context.client.run(now, workMs) + requestDelayMs;
    if (dispatchedMs > now) this.#events.append(this.#dispatched, dispatchedMs, this, DISPATCHED, stream.id);
    else this.#dispatch(stream);
  }

  #dispatch(stream: Stream): void {
    const { origin, pool } = this.#activities[stream.id]!;
    this.#clients.of(origin, pool).fetch(stream);
  }

  #satisfy(id: number): void {
    if (--this.#openDependencies[id]! === 0) this.#schedule(id);
  }

  #finish(id: number): void {
    const { now } = this.#events;
    const { isFetch, blocksLoad, renderBlocking } = this.#activities[id]!;
    this.#endMs[id] = now;
    this.#unfinished--;
    if (blocksLoad) {
      this.#blocking--;
      this.#pltMs = now;
    }
    if (!isFetch) {
      this.#satisfyUpTo(id, 0);
      if (id === this.#graph.head) this.#gate.open();
    } else if (renderBlocking) {
      this.#firstPaintMs = now;
    }
  }

  #entries(): WaterfallEntry[] {
    const entries: WaterfallEntry[] = [];
    for (const stream of this.#streams) {
      if (stream === null) continue;
      entries.push({
        requestId: this.#activities[stream.id]!.requestId,
        startMs: stream.startMs,
        sentMs: stream.sentMs,
        firstByteMs: stream.firstByteMs,
        endMs: this.#hasEnded(stream) ? this.#endMs[stream.id]! : this.#events.now,
      });
    }
    return entries;
  }

  #hasEnded({ id }: Stream): boolean {
    return this.#endMs[id]! >= 0;
  }

  #outcomes(): OriginOutcome[] {
    const outcomes: OriginOutcome[] = [];
    for (const [index, counters] of this.#clients.counters().entries()) {
      if (counters === null) continue;
      outcomes.push({
        origin: this.#graph.origins[index]!,
        protocol: this.#protocols[index]!,
        ...counters,
      });
    }
    return outcomes;
  }
}

/** Smallest burst, packets, for a page of `bytes`. */
function minBurst(bytes: number): number {
  const usual = Math.min(USUAL_MAX_BURST, bytes / (USUAL_BURSTS * PACKET.tcp.payloadBytes));
  return Math.ceil(Math.max(2, usual, bytes / BYTES_PER_BURST_PACKET));
}

function checkPath(path: NetworkPath): void {
  const usable =
    path.rttMs >= 0 &&
    Number.isFinite(path.rttMs) &&
    path.downBps > 0 &&
    path.upBps > 0 &&
    path.loss >= 0 &&
    path.loss < 1 &&
    path.lossBurst >= 1 &&
    path.queueBytes >= 0;
  if (!usable) {
    throw new EmulationError(
      `network path: expected rttMs ≥ 0, rates > 0, 0 ≤ loss < 1, lossBurst ≥ 1, queueBytes ≥ 0, got ${JSON.stringify(path)}`,
    );
  }
}
