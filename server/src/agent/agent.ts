import { setTimeout as wait } from 'node:timers/promises';
import { writingProblem } from '@hopwise/contract/command-line';
import { LRUCache } from 'lru-cache';
import { type ClusteredClient, ClusterNames } from '../clusters/cluster-names.ts';
import { ConnectionJoin, type ServedConnection } from '../connections/connection-join.ts';
import { readState, stateFile, writeState } from '../learn/learned-file.ts';
import {
  USUAL_WINDOW,
  type WindowChoice,
  WindowController,
  type WindowObjective,
} from '../learn/window-controller.ts';
import { parseLogLine } from '../log/access-log.ts';
import type { LogTail } from '../log/log-tail.ts';
import { type CountedBefore, countRounds } from '../pcwnd/count-rounds.ts';
import { LossCurves } from '../pcwnd/loss-curves.ts';
import { RouteManager } from '../routes/route-manager.ts';
import { hasTimedOut, type SocketInfo } from '../sockets/socket-info.ts';
import { SocketWatch } from '../sockets/socket-watch.ts';
import { ProgramKilled } from '../util/run-program.ts';
import { Counters } from './counters.ts';
import { planClusters } from './plan-clusters.ts';
import { WindowHistory } from './window-history.ts';

/** The options of the command `run`, by the same names. */
export interface AgentOptions {
  /** Folder. */
  state: string;
  serverPorts: readonly number[];
  windows: readonly number[];
  objective: WindowObjective;
  table: number;
  maxRoutes: number;
  minConnections: number;
  /** Milliseconds. */
  interval: number;
  /** Whether it sets routes; without it, it only says what it would do. */
  apply?: boolean;
}

/** How many narrow clusters' prefixes are remembered: those of the last ones. */
const MAX_PREFIXES = 5000;
const SAVE_MS = 10_000;
/** A choice takes milliseconds of the processor; the clusters that are left wait for the next step. */
const MAX_CHOICES = 50;
/** A transfer that the receiver held up for more of its time says nothing of the window. */
const MAX_RECEIVER_LIMITED = 0.2;

/** The data collector, controller and connection manager of TCP WISE, joined: what the log and the kernel say becomes routes. */
export class Agent {
  readonly counters = new Counters();
  readonly names: ClusterNames;
  readonly curves = new LossCurves();
  readonly #options: AgentOptions;
  readonly #say: (line: string) => void;
  readonly #controller: WindowController;
  readonly #routes: RouteManager;
  readonly #history = new WindowHistory();
  readonly #join = new ConnectionJoin((connection) => this.#learn(connection));
  /** A client of each narrow cluster, for its prefixes. */
  readonly #prefixes = new LRUCache<string, ClusteredClient>({ max: MAX_PREFIXES });
  /** The choices for the clusters that are to have a window. */
  #choices = new Map<string, WindowChoice>();
  /** The last window of each cluster that was no trial. */
  readonly #bestWindows = new Map<string, number>();
  /** Clusters from which something was learned since their last choice. */
  readonly #learnedOf = new Set<string>();
  #counted = new Map<string, CountedBefore>();
  #openByAddress = new Map<string, number>();
  readonly #startedMs = Date.now();
  #savedMs = Date.now();

  /** @throws StateError */
  constructor(options: AgentOptions, key: Buffer, say: (line: string) => void) {
    this.#options = options;
    this.#say = say;
    this.names = new ClusterNames(key);
    const { windows, objective, state, table, apply } = options;
    this.#controller = new WindowController(windows, objective, Math.random, readState(state));
    this.#routes = new RouteManager(table, !apply, say);
  }

  /** Windows of the routes at present. */
  get routes(): number[] {
    return [...this.#history.latest.values()].map(({ window }) => window);
  }

  /** Works until the signal. All routes are taken back at the end, also where it fails. */
  async run(tail: LogTail, signal: AbortSignal): Promise<void> {
    const watch = new SocketWatch(new Set(this.#options.serverPorts), (socket) => this.#noteEnd(socket));
    try {
      await this.#routes.begin();
      while (!signal.aborted) {
        await tail.readNew((line) => this.noteLine(line));
        this.#noteOpen(await watch.readOpen());
        await this.#steer();
        if (Date.now() - this.#savedMs >= SAVE_MS) this.#save();
        await wait(this.#options.interval, undefined, { signal }).catch(() => undefined);
      }
    } catch (error) {
      // Who stops it may have stopped its programs as well.
      if (!signal.aborted || !(error instanceof ProgramKilled)) throw error;
    } finally {
      try {
        await this.#routes.end();
      } finally {
        await watch.close();
        this.#save();
      }
    }
  }

  noteLine(line: string): void {
    this.counters.add('log_lines_total');
    const request = parseLogLine(line);
    if (request === null) {
      this.counters.add('log_bad_lines_total');
      return;
    }
    this.counters.add('log_bytes_total', request.bytes);
    this.#join.noteRequest(request);
  }

  #noteOpen(open: readonly SocketInfo[]): void {
    this.#openByAddress = new Map();
    for (const { address } of open)
      this.#openByAddress.set(address, (this.#openByAddress.get(address) ?? 0) + 1);
    for (const socket of open) this.#countRounds(socket);
    this.#counted = new Map(open.map((socket) => [`${socket.address} ${socket.port}`, socket]));
    this.#join.noteOpen(open);
  }

  #noteEnd(socket: SocketInfo): void {
    this.#countRounds(socket);
    this.#counted.delete(`${socket.address} ${socket.port}`);
    this.#join.noteEnd(socket);
  }

  #countRounds(socket: SocketInfo): void {
    const client = this.names.find(socket.address);
    if (client === null) return;
    const now = Date.now();
    const window = this.#windowAt(client, now)?.window ?? USUAL_WINDOW;
    const before = this.#counted.get(`${socket.address} ${socket.port}`) ?? null;
    const connections = this.#openByAddress.get(socket.address) ?? 1;
    this.curves.add(client, connections, countRounds(socket, before, window), now);
  }

  #learn({ socket, connectedMs }: ServedConnection): void {
    const client = this.names.find(socket.address);
    if (client === null || connectedMs < this.#startedMs) return;
    this.#controller.countConnection(client.narrow, Date.now());
    this.#prefixes.set(client.narrow, client);

    const inForce = this.#windowAt(client, connectedMs);
    if (inForce === null) return;
    const { segments, retransmitted, bytesAcked: bytes, busyMs: transferMs } = socket;
    const timedOut = hasTimedOut(socket, inForce.window);
    this.counters.add('connections_total', 1, inForce.window);
    this.counters.add('segments_total', segments, inForce.window);
    this.counters.add('retransmitted_total', retransmitted, inForce.window);
    this.counters.add('timeouts_total', Number(timedOut), inForce.window);
    // What fits into the usual window takes as long with any.
    if (bytes <= USUAL_WINDOW * socket.segmentBytes || transferMs === 0) return;
    if (socket.receiverLimitedMs > MAX_RECEIVER_LIMITED * transferMs) return;
    const cluster = [client.narrow, client.wide].find((name) => this.#choices.has(name));
    if (cluster === undefined) return;
    const sample = { window: inForce.window, transferMs, bytes, segments, retransmitted, timedOut };
    const origin = { client: client.name, narrow: client.narrow, cluster };
    const barred = this.#controller.note(origin, inForce.reason, sample);
    this.counters.add('learned_connections_total');
    this.#learnedOf.add(cluster);
    if (barred === null) return;
    this.counters.add('guarded_total');
    this.#say(`cluster ${cluster}: a window of ${barred} loses too much; back to ${USUAL_WINDOW}`);
  }

  /** The window that a client's connection began with; null where it cannot be told. */
  #windowAt({ narrow, wide }: ClusteredClient, connectedMs: number): WindowChoice | null {
    for (const name of [narrow, wide]) {
      const state = this.#history.at(name, connectedMs);
      if (state === 'changing') return null;
      if (state !== 'none') return state;
    }
    return { window: USUAL_WINDOW, reason: 'best' };
  }

  /** Chooses the windows of the clusters and has the kernel use them. */
  async #steer(): Promise<void> {
    const now = Date.now();
    const { minConnections, maxRoutes, apply } = this.#options;
    const connectionsOf = (cluster: string) => this.#controller.connectionsOf(cluster, now);
    const planned = planClusters(this.#prefixes.values(), connectionsOf, minConnections, maxRoutes);
    let left = MAX_CHOICES;
    const choices = new Map<string, WindowChoice>();
    for (const { name } of planned) {
      const before = this.#choices.get(name);
      const isNew = (before === undefined || this.#learnedOf.has(name)) && left-- > 0;
      const choice = isNew ? this.#choose(name) : before;
      if (choice !== undefined) choices.set(name, choice);
    }
    this.#choices = choices;
    for (const names of [this.#bestWindows, this.#learnedOf])
      for (const name of names.keys()) if (!choices.has(name)) names.delete(name);

    const chosen = planned.filter(({ name }) => choices.has(name));
    const beganMs = Date.now();
    const routed = await this.#routes.apply(
      chosen.map(({ name, prefix }) => ({ prefix, window: choices.get(name)!.window })),
    );
    if (!apply) return;
    const inForce = chosen.filter(({ prefix }) => routed.has(prefix));
    this.#history.note(new Map(inForce.map(({ name }) => [name, choices.get(name)!])), beganMs, Date.now());
  }

  #choose(cluster: string): WindowChoice {
    const choice = this.#controller.choose(cluster);
    this.#learnedOf.delete(cluster);
    if (choice.reason === 'best' && this.#bestWindows.get(cluster) !== choice.window) {
      this.#bestWindows.set(cluster, choice.window);
      this.#say(`cluster ${cluster}: a window of ${choice.window} is best`);
    }
    return choice;
  }

  /** Stores what was learned. Where that fails, as on a full disk, the file before stays, and the agent goes on. */
  #save(): void {
    this.#savedMs = Date.now();
    try {
      writeState(this.#options.state, this.#controller.state);
    } catch (error) {
      this.counters.add('state_errors_total');
      const file = stateFile(this.#options.state);
      this.#say(`${file}: expected a file that can be written, ${writingProblem(error)}; it stays as it was`);
    }
  }
}
