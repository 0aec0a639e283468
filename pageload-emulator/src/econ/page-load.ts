import type { Activity, FetchActivity, PageGraph } from '../graph/page-graph.ts';
import { SEGMENT_BYTES, SEGMENT_WIRE_BYTES } from '../network/packet.ts';
import { Agenda } from './agenda.ts';
import { ModelledConnection, type Path } from './connection.ts';
import type { FlowConditions } from './flow-conditions.ts';
import { Http1Pool } from './http1-pool.ts';
import { Http2Connection } from './http2-connection.ts';
import type { LossByConnections } from './loss-by-connections.ts';
import { SharedBottleneck } from './shared-bottleneck.ts';
import { StratifiedDraws } from './stratified-draws.ts';
import { Transfer } from './transfer.ts';
import { WindowWalk } from './window-walk.ts';

const TRAJECTORIES = 32;

/** The network of ECON's page loads. */
export interface EconNetwork {
  rttMs: number;
  downBps: number;
  /** Drop-tail queue of the bottleneck. */
  queueBytes: number;
  /** Loss apart from the queue's, by window and by connections in flight. */
  loss: LossByConnections;
  congestionControl: FlowConditions['congestionControl'];
  /** Segments. */
  initialWindow: number;
  /** Round trips before a new connection's first request: 2 for TCP and TLS 1.3. ECON has none. */
  handshakeRounds: number;
}

/** What of a page load is not the network's, and how finely it is computed. Times are milliseconds. */
export interface EconOptions {
  /** Trajectories to average over; 32 when absent. */
  trajectories?: number;
  /** Connections to each origin that are open from the start; none when absent. */
  warmConnections?: number;
  /** Round trip beyond the network's, by origin of the graph. */
  extraRttMs?: readonly number[];
  /** Server's time for a request that has none of its own, by origin of the graph. */
  thinkMs?: readonly number[];
  /** Initial window of the server where it is not the network's, segments, by origin of the graph. */
  initialWindows?: readonly number[];
}

/** A page load as ECON has it. */
export interface EconLoad {
  /** Until all that blocks the load event has ended: mean over the trajectories. */
  pltMs: number;
  /** Load time of each trajectory. */
  trajectoriesMs: number[];
  /** The trajectory of median load time (the lower one of two). */
  middle: EconTrajectory;
}

/** One trajectory of a page load. Times are milliseconds after its start. */
export interface EconTrajectory {
  pltMs: number;
  /** In the order in which they were opened. */
  connections: EconConnection[];
  /** In the order in which they were assigned to a connection. */
  transfers: EconTransfer[];
}

/** One connection of a trajectory. */
interface EconConnection {
  /** Index into the graph's origins. */
  origin: number;
  /** When its handshake had ended. */
  readyMs: number;
  requests: number;
  /** Bytes of the responses. */
  bytes: number;
  lostSegments: number;
}

/** One object of a trajectory. */
interface EconTransfer {
  /** Index of the fetch in the graph's activities. */
  activity: number;
  /** Index into the trajectory's connections. */
  connection: number;
  /** When the page requested it. */
  askedMs: number;
  /** When a connection took the request. */
  sentMs: number;
  /** When the response had arrived whole. */
  endMs: number;
}

/**
 * ECON's page load time over HTTP/1.1 or HTTP/2: the dependency graph walked with its models of finite flows. The
 * paper walks one mean trajectory, in which every connection loses at its expected window; here the loss times of
 * several are spread evenly over the survival products, as a page is done when its last flow is.
 *
 * @param protocol of every origin
 * @throws RangeError for a graph of which an activity is waited for by one before it
 */
export function econPageLoad(
  graph: PageGraph,
  network: EconNetwork,
  protocol: 'h1' | 'h2',
  options: EconOptions = {},
): EconLoad {
  const { trajectories = TRAJECTORIES } = options;
  const draws = new StratifiedDraws(trajectories);
  const loads = Array.from({ length: trajectories }, (_, trajectory) => {
    const draw: LossDraw = (connection, loss) => draws.at(trajectory, connection, loss);
    return new TrajectoryWalk(graph, network, protocol, options, draw).run();
  });
  const trajectoriesMs = loads.map(({ pltMs }) => pltMs);
  return {
    pltMs: trajectoriesMs.reduce((total, ms) => total + ms, 0) / trajectories,
    trajectoriesMs,
    middle: loads.toSorted((a, b) => a.pltMs - b.pltMs)[Math.floor((trajectories - 1) / 2)]!,
  };
}

/** Draws the survival probability at which a connection's loss comes, 0 to 1; both are counted from 0. */
type LossDraw = (connection: number, loss: number) => number;

/** One trajectory: a walk through the dependency graph. */
class TrajectoryWalk {
  readonly #graph: PageGraph;
  readonly #network: EconNetwork;
  readonly #protocol: 'h1' | 'h2';
  readonly #options: EconOptions;
  readonly #draw: LossDraw;
  readonly #agenda = new Agenda();
  readonly #path: Path;
  readonly #opened: { connection: ModelledConnection; figures: Omit<EconConnection, 'lostSegments'> }[] = [];
  readonly #transfers: EconTransfer[] = [];
  readonly #pools = new Map<string, Http1Pool | Http2Connection>();
  /** Number of each activity's dependencies that have not happened yet. */
  readonly #waitsFor: number[];
  readonly #dependents: { fraction: number; activity: Activity }[][];
  #pltMs = 0;
  #threadFreeMs = 0;

  constructor(
    graph: PageGraph,
    network: EconNetwork,
    protocol: 'h1' | 'h2',
    options: EconOptions,
    draw: LossDraw,
  ) {
    this.#graph = graph;
    this.#network = network;
    this.#protocol = protocol;
    this.#options = options;
    this.#draw = draw;
    const segmentsPerMs = network.downBps / 8_000 / SEGMENT_WIRE_BYTES;
    const room = segmentsPerMs * network.rttMs + network.queueBytes / SEGMENT_WIRE_BYTES;
    this.#path = {
      agenda: this.#agenda,
      bottleneck: new SharedBottleneck(segmentsPerMs, Math.max(1, room)),
      loss: network.loss,
      busy: 0,
    };
    this.#waitsFor = graph.activities.map(({ after }) => after.length);
    this.#dependents = dependentsOf(graph);
  }

  run(): EconTrajectory {
    for (const activity of this.#graph.activities) if (activity.after.length === 0) this.#begin(activity);
    this.#agenda.run();
    return {
      pltMs: this.#pltMs,
      connections: this.#opened.map(({ connection, figures }) => ({
        ...figures,
        lostSegments: connection.lostSegments,
      })),
      transfers: this.#transfers,
    };
  }

  #begin(activity: Activity): void {
    const agenda = this.#agenda;
    if (activity.kind === 'fetch') {
      agenda.at(agenda.nowMs + activity.delayMs, () => this.#request(activity));
      return;
    }
    this.#threadFreeMs = Math.max(this.#threadFreeMs, agenda.nowMs) + activity.durationMs;
    agenda.at(this.#threadFreeMs, () => {
      this.#end(activity);
      for (const { activity: next } of this.#dependents[activity.id]!) this.#completeDependency(next);
    });
  }

  #end(activity: Activity): void {
    if (activity.blocksLoad) this.#pltMs = Math.max(this.#pltMs, this.#agenda.nowMs);
  }

  #completeDependency(activity: Activity): void {
    if (--this.#waitsFor[activity.id]! === 0) this.#begin(activity);
  }

  #request(activity: FetchActivity): void {
    const agenda = this.#agenda;
    const pool = this.#poolOf(activity);
    const marks = this.#dependents[activity.id]!.map(({ fraction, activity: next }) => ({
      fraction,
      action: () => this.#completeDependency(next),
    }));
    const traced = { activity: activity.id, connection: -1, askedMs: agenda.nowMs, sentMs: 0, endMs: 0 };
    const whole = {
      fraction: 1,
      action: () => {
        traced.endMs = agenda.nowMs;
        this.#end(activity);
        pool.release(transfer);
      },
    };
    const segments = Math.max(1, activity.responseBytes) / SEGMENT_BYTES;
    const transfer = new Transfer(agenda, segments, activity.urgency, [...marks, whole]);
    pool.request({
      transfer,
      // The model has no responses that come in parts.
      thinkMs: (activity.thinkMs ?? this.#options.thinkMs?.[activity.origin] ?? 0) + (activity.bodyMs ?? 0),
      onAssigned: (connection) => {
        traced.connection = this.#opened.findIndex((one) => one.connection === connection);
        traced.sentMs = agenda.nowMs;
        this.#transfers.push(traced);
        const { figures } = this.#opened[traced.connection]!;
        figures.requests++;
        figures.bytes += activity.responseBytes;
      },
    });
  }

  #poolOf({ origin, pool = 0 }: FetchActivity): Http1Pool | Http2Connection {
    const key = `${origin} ${pool}`;
    const found = this.#pools.get(key);
    if (found) return found;
    const { warmConnections = 0, extraRttMs } = this.#options;
    const rttMs = this.#network.rttMs + (extraRttMs?.[origin] ?? 0);
    const opening = {
      agenda: this.#agenda,
      handshakeMs: this.#network.handshakeRounds * rttMs,
      open: () => this.#open(origin, rttMs),
    };
    const created =
      this.#protocol === 'h2'
        ? new Http2Connection(opening, warmConnections > 0)
        : new Http1Pool(opening, warmConnections);
    this.#pools.set(key, created);
    return created;
  }

  #open(origin: number, rttMs: number): ModelledConnection {
    const { congestionControl, initialWindow } = this.#network;
    const window = this.#options.initialWindows?.[origin] ?? initialWindow;
    const number = this.#opened.length;
    let losses = 0;
    const walk = new WindowWalk(congestionControl, { window }, () => this.#draw(number, losses++));
    const connection = new ModelledConnection(this.#path, walk, rttMs);
    const figures = { origin, readyMs: this.#agenda.nowMs, requests: 0, bytes: 0 };
    this.#opened.push({ connection, figures });
    return connection;
  }
}

/** For each activity those that wait for it, and the fraction of its response that they need. @throws RangeError */
function dependentsOf({ activities }: PageGraph): { fraction: number; activity: Activity }[][] {
  const dependents = activities.map((): { fraction: number; activity: Activity }[] => []);
  for (const activity of activities) {
    for (const { activity: earlier, fraction } of activity.after) {
      if (!(earlier < activity.id)) throw new RangeError(`activity ${activity.id} waits for a later one`);
      dependents[earlier]!.push({ fraction, activity });
    }
  }
  return dependents;
}
