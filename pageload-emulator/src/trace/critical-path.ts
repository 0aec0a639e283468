import type { NetworkPath, ServerProfile, WaterfallEntry } from '@hopwise/contract';
import type { Emulated } from '../emulate/emulate.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import type { LoadTrace } from './load-trace.ts';

/** Causes of a load's time, in the order in which a request meets them. */
export const CAUSES = [
  /** The page's own delays: the parser reaches a resource late, a timer. */
  'page',
  /** Scripts and other work on the main thread. */
  'script',
  /** The browser holds the request back, or its host's HTTP/1.1 connections are busy. */
  'turn',
  /** Name resolution and handshake. */
  'connect',
  /** The round trip of request and first byte. */
  'roundTrip',
  /** The server's time before and in the response. */
  'server',
  /** Waiting behind a lost packet. */
  'loss',
  /** Congestion windows, the link's rate, and other responses on the link. */
  'transfer',
] as const;

export type Cause = (typeof CAUSES)[number];

/** One step of the critical path. Times are milliseconds after navigationStart. */
export interface CriticalStep {
  /** Index into `PageGraph.activities`. */
  activity: number;
  kind: 'fetch' | 'compute';
  requestId: number;
  url: string;
  /** When the step before let it begin; steps have no gaps between them. */
  fromMs: number;
  /** When it let the next step begin. */
  toMs: number;
  /** Milliseconds by cause; they add up to `toMs - fromMs`. */
  causes: Partial<Record<Cause, number>>;
}

/**
 * Finds the chain of activities that the load event waited for: backwards from the activity that ended last, each time to the
 * dependency that was satisfied last.
 *
 * @param load emulated with a waterfall and with `trace`
 */
export function criticalPath(
  graph: PageGraph,
  load: Emulated,
  trace: LoadTrace,
  path: NetworkPath,
  servers: readonly ServerProfile[],
): CriticalStep[] {
  return new PathFinder(graph, load, trace, path, servers).find();
}

/** Sums the causes over a path, milliseconds. */
export function causesOf(steps: readonly CriticalStep[]): Record<Cause, number> {
  const sums = Object.fromEntries(CAUSES.map((cause) => [cause, 0])) as Record<Cause, number>;
  for (const { causes } of steps) for (const cause of CAUSES) sums[cause] += causes[cause] ?? 0;
  return sums;
}

class PathFinder {
  readonly #graph: PageGraph;
  readonly #load: Emulated;
  readonly #trace: LoadTrace;
  readonly #path: NetworkPath;
  readonly #servers: ReadonlyMap<string, ServerProfile>;
  readonly #entries: ReadonlyMap<number, WaterfallEntry>;

  constructor(
    graph: PageGraph,
    load: Emulated,
    trace: LoadTrace,
    path: NetworkPath,
    servers: readonly ServerProfile[],
  ) {
    this.#graph = graph;
    this.#load = load;
    this.#trace = trace;
    this.#path = path;
    this.#servers = new Map(servers.map((server) => [server.origin, server]));
    this.#entries = new Map(load.entries.map((entry) => [entry.requestId, entry]));
  }

  find(): CriticalStep[] {
    const steps: CriticalStep[] = [];
    let toMs = this.#load.pltMs;
    for (let id = this.#last(); id !== null; ) {
      const { before, fromMs } = this.#beginOf(id, toMs);
      steps.push(this.#step(id, fromMs, toMs));
      toMs = fromMs;
      id = before;
    }
    return steps.reverse();
  }

  /** The activity whose end brought the load event. */
  #last(): number | null {
    let last: number | null = null;
    for (const { id, blocksLoad } of this.#graph.activities) {
      if (blocksLoad && (last === null || this.#load.endMs[id]! > this.#load.endMs[last]!)) last = id;
    }
    return last;
  }

  /** When all dependencies of an activity were satisfied, and which was the last. */
  #beginOf(id: number, toMs: number): { before: number | null; fromMs: number } {
    const activity = this.#graph.activities[id]!;
    let before: number | null = null;
    let lastMs = 0;
    for (const { activity: parent, fraction } of activity.after) {
      const atMs = this.#satisfiedMs(parent, fraction);
      if (before === null || atMs > lastMs) {
        before = parent;
        lastMs = atMs;
      }
    }
    if (before === null) return { before, fromMs: 0 };
    // Arrival times of parts are interpolated; a fetch's start is exact.
    if (activity.kind === 'fetch') {
      lastMs = this.#entries.get(activity.requestId)!.startMs - activity.delayMs;
    }
    return { before, fromMs: Math.max(0, Math.min(lastMs, toMs)) };
  }

  #satisfiedMs(id: number, fraction: number): number {
    const activity = this.#graph.activities[id]!;
    const endMs = this.#load.endMs[id]!;
    if (activity.kind === 'compute' || fraction >= 1) return endMs;
    const { firstByteMs } = this.#entries.get(activity.requestId)!;
    return firstByteMs + fraction * (endMs - firstByteMs);
  }

  #step(id: number, fromMs: number, toMs: number): CriticalStep {
    const activity = this.#graph.activities[id]!;
    const { kind, requestId } = activity;
    const step: CriticalStep = { activity: id, kind, requestId, url: '', fromMs, toMs, causes: {} };
    const clock = new StepClock(step);
    if (activity.kind === 'compute') {
      const fetch = this.#graph.activities.find(
        (other) => other.kind === 'fetch' && other.requestId === requestId,
      );
      step.url = fetch?.kind === 'fetch' ? fetch.url : this.#graph.url;
      clock.until(toMs, 'script');
      return step;
    }
    step.url = activity.url;
    const entry = this.#entries.get(requestId)!;
    const server = this.#servers.get(this.#graph.origins[activity.origin]!);
    const index = this.#trace.connectionOf(id);
    const connection = index === null ? undefined : this.#trace.connections[index];
    clock.until(entry.startMs, 'page');
    clock.until(Math.max(entry.startMs, connection?.openingMs ?? 0), 'turn');
    clock.until(Math.min(entry.sentMs, connection?.openMs ?? 0), 'connect');
    clock.until(entry.sentMs, 'turn');
    const answerMs = entry.sentMs + this.#path.rttMs + (server?.extraRttMs ?? 0);
    clock.until(Math.min(entry.firstByteMs, answerMs), 'roundTrip');
    const thinkMs = activity.thinkMs ?? server?.thinkMs ?? 0;
    clock.until(Math.min(entry.firstByteMs, answerMs + thinkMs), 'server');
    if (activity.bodyMs) clock.until(entry.firstByteMs + activity.bodyMs, 'server');
    const lossMs = this.#trace.lossWaitMs(id, clock.nowMs, toMs);
    clock.until(clock.nowMs + lossMs, 'loss');
    clock.until(toMs, 'transfer');
    return step;
  }
}

/** Divides the time of a step among consecutive causes. */
class StepClock {
  nowMs: number;
  readonly #step: CriticalStep;

  constructor(step: CriticalStep) {
    this.#step = step;
    this.nowMs = step.fromMs;
  }

  until(timeMs: number, cause: Cause): void {
    const atMs = Math.min(timeMs, this.#step.toMs);
    if (atMs <= this.nowMs) return;
    const { causes } = this.#step;
    causes[cause] = (causes[cause] ?? 0) + atMs - this.nowMs;
    this.nowMs = atMs;
  }
}
