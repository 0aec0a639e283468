import type { ExplainedConnection, ProtocolExplanation, WaterfallEntry } from '@hopwise/pageload-emulator';

/** A request on a connection, with the lane that it is drawn in. */
interface Stream {
  entry: WaterfallEntry;
  lane: number;
}

/** A connection with its requests, in lanes that no two of them share at a time. */
export interface ConnectionRow {
  connection: ExplainedConnection;
  streams: Stream[];
  lanes: number;
  /** End of its last response. */
  endMs: number;
}

/** Lays out the requests of each connection of an emulated load, in order of opening. */
export function layOutConnections({
  connections,
  waterfall,
}: Pick<ProtocolExplanation, 'connections' | 'waterfall'>): ConnectionRow[] {
  const entries = new Map(waterfall.map((entry) => [entry.requestId, entry]));
  return connections
    .map((connection) => {
      const own = connection.requestIds.flatMap((id) => entries.get(id) ?? []);
      const streams = assignLanes(own.sort((a, b) => a.sentMs - b.sentMs));
      return {
        connection,
        streams,
        lanes: Math.max(1, ...streams.map(({ lane }) => lane + 1)),
        endMs: Math.max(connection.openMs ?? connection.openingMs, ...own.map(({ endMs }) => endMs)),
      };
    })
    .sort((a, b) => a.connection.openingMs - b.connection.openingMs);
}

/** Gives each request the first lane that is free when it is sent. */
function assignLanes(entries: readonly WaterfallEntry[]): Stream[] {
  const freeAtMs: number[] = [];
  return entries.map((entry) => {
    const free = freeAtMs.findIndex((ms) => ms <= entry.sentMs);
    const lane = free < 0 ? freeAtMs.length : free;
    freeAtMs[lane] = entry.endMs;
    return { entry, lane };
  });
}
