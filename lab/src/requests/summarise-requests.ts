/** What requests took over each transport, by what happened to the network. */
import { groupBy, mean, quantile } from '@hopwise/contract';
import { table, wrap } from '@hopwise/contract/terminal';
import type { LabNetwork } from '../client/networks.ts';
import { TRANSPORTS } from './session.ts';
import type { SessionRow } from './session-row.ts';

/** A session has a heavy tail where it takes this many times as long over QUIC as over TCP. */
const HEAVY = 4;
const WIDTH = 120;

/** A part of the sessions, such as those in which UDP was blocked, after that. */
interface Part {
  name: string;
  requests: Record<(typeof TRANSPORTS)[number], PartRequests>;
  /** Mean request time over QUIC divided by that over TCP, of each pair of sessions. */
  ratios: number[];
}

interface PartRequests {
  tookMs: number[];
  failed: number;
}

/** What is done to UDP on a network, for a table. */
export function udpKindOf({ udp, udpLoss = 0 }: LabNetwork): string {
  if (typeof udp === 'object') return 'policed';
  return udp === 'open' && udpLoss > 0 ? 'lossy' : udp;
}

/** @param against the same conditions measured elsewhere, such as with an earlier helper; what both have is compared */
export function showRequestTimes(rows: readonly SessionRow[], against: readonly SessionRow[] | null): string {
  const shared = against === null ? null : new Set(against.map(nameOf));
  const parts = listParts(rows.filter((row) => shared?.has(nameOf(row)) ?? true));
  const own = new Set(rows.map(nameOf));
  const others = new Map(
    listParts((against ?? []).filter((row) => own.has(nameOf(row)))).map((part) => [part.name, part]),
  );
  const compare = (name: string, write: (part: Part) => string, part: Part): string => {
    const other = others.get(name);
    return other === undefined ? write(part) : `${write(other)} → ${write(part)}`;
  };
  const head = ['', '', '>requests', '>mean', '>median', '>p90', '>slowest', '>failed', '>heavy'];
  const body = parts.flatMap((part) =>
    TRANSPORTS.map((transport, at) => {
      const cell = (read: (of: PartRequests) => number): string =>
        compare(part.name, ({ requests }) => read(requests[transport]).toFixed(0), part);
      const heavy = ({ ratios }: Part): string =>
        ratios.length === 0
          ? '–'
          : `${((100 * ratios.filter((ratio) => ratio >= HEAVY).length) / ratios.length).toFixed(0)}%`;
      return [
        at === 0 ? part.name : '',
        transport.toUpperCase(),
        cell(({ tookMs }) => tookMs.length),
        cell(({ tookMs }) => mean(tookMs)),
        cell(({ tookMs }) => quantile(tookMs, 0.5)),
        cell(({ tookMs }) => quantile(tookMs, 0.9)),
        cell(({ tookMs }) => Math.max(...tookMs)),
        cell(({ failed }) => failed),
        transport === 'quic' ? compare(part.name, heavy, part) : '',
      ];
    }),
  );
  const note = `Request times in ms, failed ones included. Heavy: pairs of sessions whose requests take at least ${HEAVY} times as long over QUIC, on average.`;
  return [table([head, ...body]), '', ...wrap(note, WIDTH), ''].join('\n');
}

const nameOf = ({ condition, stack, transport }: SessionRow): string => `${condition} ${stack} ${transport}`;

/** Parts of which both transports have requests, in order of their names. */
function listParts(rows: readonly SessionRow[]): Part[] {
  const samples = rows.flatMap((row) =>
    row.requests.index.map((_, at) => ({
      part: partOf(row, at),
      pair: `${row.condition} ${row.stack}`,
      transport: row.transport,
      tookMs: row.requests.tookMs[at]!,
      hasFailed: row.requests.status[at] === 0,
    })),
  );
  return [...groupBy(samples, ({ part }) => part)]
    .map(([name, own]) => {
      const requestsOf = (transport: SessionRow['transport']): PartRequests => {
        const some = own.filter((each) => each.transport === transport);
        return {
          tookMs: some.map(({ tookMs }) => tookMs),
          failed: some.filter(({ hasFailed }) => hasFailed).length,
        };
      };
      const ratios = [...groupBy(own, ({ pair }) => pair).values()].flatMap((both) => {
        const [tcp, quic] = TRANSPORTS.map((transport) =>
          both.filter((each) => each.transport === transport).map(({ tookMs }) => tookMs),
        );
        return tcp!.length > 0 && quic!.length > 0 ? [mean(quic!) / mean(tcp!)] : [];
      });
      return { name, requests: { tcp: requestsOf('tcp'), quic: requestsOf('quic') }, ratios };
    })
    .filter(({ requests: { tcp, quic } }) => tcp.tookMs.length > 0 && quic.tookMs.length > 0)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** What the network did while a request was in progress. */
function partOf({ change, before, changedMs, requests }: SessionRow, at: number): string {
  const [changeMs] = changedMs;
  if (changeMs === undefined) return `steady, UDP ${udpKindOf(before)}`;
  const startedMs = requests.startedMs[at]!;
  if (startedMs + requests.tookMs[at]! <= changeMs) return `before a change, UDP ${udpKindOf(before)}`;
  return startedMs < changeMs ? `${change}: in progress` : `${change}: after it`;
}
