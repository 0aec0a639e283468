import { groupBy, type Protocol, type RecordedRequest, type Recording } from '@hopwise/contract';
import {
  type ExplainedConnection,
  originOf,
  type ProtocolExplanation,
  type WaterfallEntry,
} from '@hopwise/pageload-emulator';

/** A request on a connection, with the lane that it is drawn in. */
interface Stream {
  entry: WaterfallEntry;
  lane: number;
}

/** A connection with its requests, in lanes that no two of them share at a time. */
export interface ConnectionRow {
  connection: ExplainedConnection;
  protocol: Protocol | null;
  streams: Stream[];
  lanes: number;
  /** End of its last response. */
  endMs: number;
}

/** Lays out the requests of each connection of an emulated load, in order of opening. */
export function layOutConnections(
  { connections, waterfall }: Pick<ProtocolExplanation, 'connections' | 'waterfall'>,
  protocol: Protocol,
): ConnectionRow[] {
  const entries = new Map(waterfall.map((entry) => [entry.requestId, entry]));
  return inOrder(
    connections.map((connection) =>
      layOutRow(
        connection,
        protocol,
        connection.requestIds.flatMap((id) => entries.get(id) ?? []),
      ),
    ),
  );
}

/** Lays out a recorded load's connections; where they are not named, requests to one origin over one protocol share a row. */
export function layOutRecorded({ requests }: Recording): ConnectionRow[] {
  const sent = requests.filter(({ fromCache }) => !fromCache);
  const groups = groupBy(sent, ({ connectionId, url, protocol }) =>
    connectionId === null ? `${originOf(url)} ${protocol}` : `connection ${connectionId}`,
  );
  return inOrder([...groups.values()].map(layOutRecordedRow));
}

function layOutRecordedRow(requests: readonly RecordedRequest[]): ConnectionRow {
  const first = requests[0]!;
  const opener = requests.find(({ phases }) => phases.connectStartMs !== null)?.phases;
  const connection: ExplainedConnection = {
    origin: originOf(first.url) ?? first.url,
    openingMs: opener?.connectStartMs ?? first.startMs,
    openMs: opener?.connectEndMs ?? null,
    requests: requests.length,
    requestIds: requests.map(({ id }) => id),
    bytes: requests.reduce((sum, { transferBytes }) => sum + (transferBytes ?? 0), 0),
    lost: { random: 0, queue: 0, policed: 0 },
    timeouts: 0,
  };
  const entries = requests.map(({ id, startMs, endMs, phases }) => ({
    requestId: id,
    startMs,
    sentMs: phases.requestStartMs ?? startMs,
    firstByteMs: phases.responseStartMs ?? endMs,
    endMs,
  }));
  return layOutRow(connection, first.protocol, entries);
}

function layOutRow(
  connection: ExplainedConnection,
  protocol: Protocol | null,
  entries: readonly WaterfallEntry[],
): ConnectionRow {
  const streams = assignLanes(entries.toSorted((a, b) => a.sentMs - b.sentMs));
  return {
    connection,
    protocol,
    streams,
    lanes: Math.max(1, ...streams.map(({ lane }) => lane + 1)),
    endMs: Math.max(connection.openMs ?? connection.openingMs, ...entries.map(({ endMs }) => endMs)),
  };
}

const inOrder = (rows: readonly ConnectionRow[]): ConnectionRow[] =>
  rows.toSorted((a, b) => a.connection.openingMs - b.connection.openingMs);

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
