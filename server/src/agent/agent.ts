import { readFileSync } from 'node:fs';
import { writingProblem } from '@hopwise/contract/command-line';
import { formatPrefix } from '../clusters/address.ts';
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
import { type CountedBefore, countRounds, type LossResponse } from '../pcwnd/count-rounds.ts';
import { LossCurves } from '../pcwnd/loss-curves.ts';
import { RouteManager } from '../routes/route-manager.ts';
import { hasTimedOut, type SocketInfo } from '../sockets/socket-info.ts';
import { SocketWatch } from '../sockets/socket-watch.ts';
import { RecentMap } from '../util/recent-map.ts';
import { Counters } from './counters.ts';
import { type PlannedCluster, planClusters } from './plan-clusters.ts';
import { WindowHistory } from './window-history.ts';

export interface AgentOptions {
  stateFolder: string;
  ports: readonly number[];
  windows: readonly number[];
  objective: WindowObjective;
  table: number;
  maxRoutes: number;
  minConnections: number;
  intervalMs: number;
  /** Whether it only says what it would do. */
  isDry: boolean;
}

/** At least so many narrow clusters' prefixes are remembered, and at most twice as many, those last seen. */
const MAX_PREFIXES = 5000;
const SAVE_MS = 10_000;
/** Within this time a signal reaches all processes of a terminal. */
const STOPPING_MS = 100;
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
  readonly #prefixes = new RecentMap<ClusteredClient>(MAX_PREFIXES);
  readonly #choices = new Map<string, WindowChoice>();
  /** The last window of each cluster that was no trial. */
  readonly #bestWindows = new Map<string, number>();
  /** Clusters from which something was learned since their last choice. */
  readonly #learnedOf = new Set<string>();
  readonly #counted = new Map<string, CountedBefore>();
  readonly #startedMs = Date.now();
  #planned = new Set<string>();
  #inForce = new Map<string, WindowChoice>();
  #openByAddress = new Map<string, number>();
  #savedMs = Date.now();
  #lossResponse: LossResponse = 'cubic';

  /** @throws StateError */
  constructor(options: AgentOptions, key: Buffer, say: (line: string) => void) {
    this.#options = options;
    this.#say = say;
    this.names = new ClusterNames(key);
    this.#controller = new WindowController(
      options.windows,
      options.objective,
      Math.random,
      readState(options.stateFolder),
    );
    this.#routes = new RouteManager(options.table, options.isDry, say);
  }

  /** Routes by their window. */
  get routes(): ReadonlyMap<number, number> {
    const counts = new Map<number, number>();
    for (const { window } of this.#inForce.values()) counts.set(window, (counts.get(window) ?? 0) + 1);
    return counts;
  }

  /** Works until the signal. All routes are taken back at the end, also where it fails. */
  async run(tail: LogTail, signal: AbortSignal): Promise<void> {
    this.#lossResponse = readLossResponse();
    const watch = new SocketWatch(new Set(this.#options.ports), (socket) => this.#noteEnd(socket));
    try {
      await this.#routes.begin();
      while (!signal.aborted) {
        await this.#stepUnlessStopped(tail, watch, signal);
        await pause(this.#options.intervalMs, signal);
      }
    } finally {
      try {
        await this.#routes.end();
      } finally {
        await watch.close();
        this.#save();
      }
    }
  }

  /** A terminal's Ctrl-C also ends the programs that the agent waits for: what they then fail with is no failure. */
  async #stepUnlessStopped(tail: LogTail, watch: SocketWatch, signal: AbortSignal): Promise<void> {
    try {
      await this.#step(tail, watch);
    } catch (error) {
      await pause(STOPPING_MS, signal);
      if (!signal.aborted) throw error;
    }
  }

  async #step(tail: LogTail, watch: SocketWatch): Promise<void> {
    await tail.readNew((line) => this.noteLine(line));
    const open = await watch.readOpen();
    this.#noteOpen(open);
    await this.#steer();
    if (Date.now() - this.#savedMs >= SAVE_MS) this.#save();
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
    const keys = new Set<string>();
    for (const socket of open) {
      const key = `${socket.address} ${socket.port}`;
      keys.add(key);
      this.#countRounds(socket, key);
      const { segments, retransmitted } = socket;
      this.#counted.set(key, { segments, retransmitted });
    }
    for (const key of this.#counted.keys()) if (!keys.has(key)) this.#counted.delete(key);
    this.#join.noteOpen(open);
  }

  #noteEnd(socket: SocketInfo): void {
    const key = `${socket.address} ${socket.port}`;
    this.#countRounds(socket, key);
    this.#counted.delete(key);
    this.#join.noteEnd(socket);
  }

  #countRounds(socket: SocketInfo, key: string): void {
    const client = this.names.find(socket.address);
    if (client === null) return;
    const now = Date.now();
    const window = this.#windowAt(client, now)?.window ?? USUAL_WINDOW;
    const counts = countRounds(socket, this.#counted.get(key) ?? null, window, this.#lossResponse);
    this.curves.add(client.name, client.narrow, this.#openByAddress.get(socket.address) ?? 1, counts, now);
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
    const label = `window="${inForce.window}"`;
    this.counters.add('connections_total', 1, label);
    this.counters.add('segments_total', segments, label);
    this.counters.add('retransmitted_total', retransmitted, label);
    this.counters.add('timeouts_total', Number(timedOut), label);
    // What fits into the usual window takes as long with any.
    if (bytes <= USUAL_WINDOW * socket.segmentBytes || transferMs === 0) return;
    if (socket.receiverLimitedMs > MAX_RECEIVER_LIMITED * transferMs) return;
    const cluster = this.#clusterOf(client);
    if (cluster === null) return;
    const sample = { window: inForce.window, transferMs, bytes, segments, retransmitted, timedOut };
    const origin = { client: client.name, narrow: client.narrow, cluster };
    const barred = this.#controller.note(origin, inForce.reason, sample);
    this.counters.add('learned_connections_total');
    this.#learnedOf.add(cluster);
    if (barred === null) return;
    this.counters.add('guarded_total');
    this.#say(`cluster ${cluster}: a window of ${barred} loses too much; back to ${USUAL_WINDOW}`);
  }

  /** The cluster that a client learns with; null while it has none. */
  #clusterOf({ narrow, wide }: ClusteredClient): string | null {
    return [narrow, wide].find((name) => this.#planned.has(name)) ?? null;
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
    const { minConnections, maxRoutes, isDry } = this.#options;
    const connectionsOf = (cluster: string) => this.#controller.connectionsOf(cluster, now);
    const planned = planClusters(this.#prefixes.values(), connectionsOf, minConnections, maxRoutes);
    this.#planned = new Set(planned.map(({ name }) => name));
    const waiting = planned.filter(({ name }) => !this.#choices.has(name) || this.#learnedOf.has(name));
    for (const { name } of waiting.slice(0, MAX_CHOICES)) {
      this.#noteChoice(name, this.#controller.choose(name));
      this.#learnedOf.delete(name);
    }
    for (const names of [this.#choices, this.#bestWindows, this.#learnedOf])
      for (const name of names.keys()) if (!this.#planned.has(name)) names.delete(name);
    const chosen = planned.filter(({ name }) => this.#choices.has(name));

    const beganMs = Date.now();
    const routed = await this.#routes.apply(
      chosen.map(({ name, prefix }) => ({ prefix, window: this.#choices.get(name)!.window })),
    );
    if (!isDry) this.#noteInForce(chosen, routed, beganMs);
  }

  #noteChoice(cluster: string, choice: WindowChoice): void {
    this.#choices.set(cluster, choice);
    if (choice.reason !== 'best' || this.#bestWindows.get(cluster) === choice.window) return;
    this.#bestWindows.set(cluster, choice.window);
    this.#say(`cluster ${cluster}: a window of ${choice.window} is best`);
  }

  #noteInForce(planned: readonly PlannedCluster[], routed: ReadonlySet<string>, beganMs: number): void {
    const endedMs = Date.now();
    const next = new Map(
      planned
        .filter(({ prefix }) => routed.has(formatPrefix(prefix)))
        .map(({ name }) => [name, this.#choices.get(name)!]),
    );
    for (const name of this.#inForce.keys())
      if (!next.has(name)) this.#history.note(name, 'none', beganMs, endedMs);
    for (const [name, choice] of next) {
      const before = this.#inForce.get(name);
      if (before?.window !== choice.window || before.reason !== choice.reason)
        this.#history.note(name, choice, beganMs, endedMs);
    }
    this.#inForce = next;
  }

  /** Stores what was learned. Where that fails, as on a full disk, the file before stays, and the agent goes on. */
  #save(): void {
    this.#savedMs = Date.now();
    try {
      writeState(this.#options.stateFolder, this.#controller.state);
    } catch (error) {
      this.counters.add('state_errors_total');
      const file = stateFile(this.#options.stateFolder);
      this.#say(`${file}: expected a file that can be written, ${writingProblem(error)}; it stays as it was`);
    }
  }
}

/** How the kernel's senders answer a loss. */
function readLossResponse(): LossResponse {
  const name = readFileSync('/proc/sys/net/ipv4/tcp_congestion_control', 'utf8').trim();
  return name === 'reno' ? 'reno' : 'cubic';
}

/** Waits, or until the signal. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
