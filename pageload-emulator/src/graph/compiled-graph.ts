import type { Hold } from '../client/low-priority-gate.ts';
import type { PageGraph } from './page-graph.ts';

/** Something that begins once part of another activity has happened. */
export interface Dependant {
  activity: number;
  /** Bytes of the other's response that it needs; 0 after computing. */
  bytes: number;
}

/** An activity as an emulation reads it: a fetch and a computation have the same fields. */
export interface CompiledActivity {
  readonly isFetch: boolean;
  readonly blocksLoad: boolean;
  /** How many dependencies it has. */
  readonly dependencies: number;
  /** Who waits for it, by the bytes that they need. */
  readonly dependants: readonly Dependant[];
  /** Of a computation; 0 of a fetch. The rest is of a fetch. */
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
  /** Its own; negative where its server's goes. */
  readonly thinkMs: number;
  /** Of the response's first bytes this many are waited for in parts. */
  readonly inPartsBytes: number;
}

export interface CompiledGraph {
  readonly activities: readonly CompiledActivity[];
  /** Of `activities`, to be copied. */
  readonly dependencies: readonly number[];
  /** How many activities the load event waits for. */
  readonly blocking: number;
  /** Of all responses. */
  readonly bytes: number;
}

const compiledGraphs = new WeakMap<PageGraph, CompiledGraph>();

/** A graph is compiled once: whoever changes it afterwards must make a new one. */
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
      dependants[parent]!.push({ activity: id, bytes: Math.min(size, Math.ceil(size * fraction)) });
    }
  }
  for (const list of dependants) list.sort((a, b) => a.bytes - b.bytes || a.activity - b.activity);
  return dependants;
}

function wholeBytes(bytes: number): number {
  return Math.max(1, Math.round(bytes));
}
