import type { Hold } from '../client/low-priority-gate.ts';
import type { PageGraph } from './page-graph.ts';

/** An activity that waits for another one, or for part of its response. */
interface Dependant {
  activity: number;
  /** Bytes of the other activity's response that it needs; 0 when that is a computation. */
  bytes: number;
}

/** An activity with the same fields for fetches and computations, for the emulator's inner loop. */
export interface CompiledActivity {
  readonly isFetch: boolean;
  readonly blocksLoad: boolean;
  /** Number of dependencies. */
  readonly dependencies: number;
  /** Activities that wait for it, ascending by the bytes that they need. */
  readonly dependants: readonly Dependant[];
  /** Duration of a computation; 0 for a fetch. The fields below describe a fetch. */
  readonly durationMs: number;
  readonly requestId: number;
  readonly origin: number;
  readonly pool: number;
  readonly hold: Hold | null;
  readonly urgency: number;
  readonly incremental: boolean;
  readonly renderBlocking: boolean;
  readonly delayMs: number;
  readonly requestBytes: number;
  /** At least 1. */
  readonly responseBytes: number;
  /** The request's own; negative when the server's think time applies. */
  readonly thinkMs: number;
  readonly bodyMs: number;
  /** How many of the response's first bytes other activities wait for in parts. */
  readonly inPartsBytes: number;
}

interface CompiledGraph {
  readonly activities: readonly CompiledActivity[];
  /** Number of dependencies of each activity; copied for each load. */
  readonly dependencies: readonly number[];
  /** Number of activities that the load event waits for. */
  readonly blocking: number;
  /** Bytes of all responses. */
  readonly bytes: number;
}

const compiledGraphs = new WeakMap<PageGraph, CompiledGraph>();

/** Compiles a graph, once: a graph must not change after its first compilation. */
export function compileGraph(graph: PageGraph): CompiledGraph {
  let compiled = compiledGraphs.get(graph);
  if (compiled === undefined) {
    compiled = compile(graph);
    compiledGraphs.set(graph, compiled);
  }
  return compiled;
}

function compile(graph: PageGraph): CompiledGraph {
  const dependants = dependantsOf(graph);
  const activities = graph.activities.map((activity): CompiledActivity => {
    const { id, blocksLoad } = activity;
    const fetch = activity.kind === 'fetch' ? activity : null;
    const responseBytes = fetch === null ? 0 : wholeBytes(fetch.responseBytes);
    let inPartsBytes = 0;
    for (const { bytes } of dependants[id]!) if (bytes < responseBytes) inPartsBytes = bytes;
    return {
      isFetch: fetch !== null,
      blocksLoad,
      dependencies: activity.after.length,
      dependants: dependants[id]!,
      durationMs: activity.kind === 'compute' ? activity.durationMs : 0,
      requestId: activity.requestId,
      origin: fetch?.origin ?? 0,
      pool: fetch?.pool ?? 0,
      hold: fetch?.hold ?? null,
      urgency: fetch?.urgency ?? 0,
      incremental: fetch?.incremental ?? false,
      renderBlocking: fetch?.renderBlocking ?? false,
      delayMs: fetch?.delayMs ?? 0,
      requestBytes: fetch?.requestBytes ?? 0,
      responseBytes,
      thinkMs: fetch?.thinkMs ?? -1,
      bodyMs: fetch?.bodyMs ?? 0,
      inPartsBytes,
    };
  });
  return {
    activities,
    dependencies: activities.map(({ dependencies }) => dependencies),
    blocking: activities.filter(({ blocksLoad }) => blocksLoad).length,
    bytes: activities.reduce((sum, { responseBytes }) => sum + responseBytes, 0),
  };
}

function dependantsOf(graph: PageGraph): Dependant[][] {
  const dependants: Dependant[][] = graph.activities.map(() => []);
  for (const { id, after } of graph.activities) {
    for (const { activity: parent, fraction } of after) {
      const before = graph.activities[parent]!;
      const size = before.kind === 'fetch' ? wholeBytes(before.responseBytes) : 0;
      // What waits for no part of a response waits for its beginning.
      const bytes = Math.max(1, Math.ceil(size * fraction));
      dependants[parent]!.push({ activity: id, bytes: Math.min(size, bytes) });
    }
  }
  for (const list of dependants) list.sort((a, b) => a.bytes - b.bytes || a.activity - b.activity);
  return dependants;
}

function wholeBytes(bytes: number): number {
  return Math.max(1, Math.round(bytes));
}
