/** Measured sessions replayed request by request, with a client that chooses the transport as the extension does. */
import { groupBy, mean } from '@hopwise/contract';
import type { SessionRow } from '@hopwise/lab/requests/session-row';
import { udpKindOf } from '@hopwise/lab/requests/summarise-requests';
import { type TimedRequest, type TimedTransport, TransportChooser } from '@hopwise/model';

/** As often as the helper reports while requests flow. */
const REPORT_MS = 2_000;
const HTTP3 = 3;
/** Any: the chooser compares times. */
const EPOCH_MS = 1_700_000_000_000;

/** One condition with one stack: the requests that both sessions have, in the order in which they begin. */
export interface SessionPair {
  condition: string;
  split: string;
  change: string;
  isHinderedAtFirst: boolean;
  /** The pair of the same condition with another stack; null where it was not measured. */
  withOtherStack: SessionPair | null;
  requests: PairedRequest[];
  /** Number of requests before the network changes; all where it does not. */
  changesAt: number;
}

type PairedRequest = Record<TimedTransport, RecordedRequest>;

interface RecordedRequest {
  /** Since the beginning of the request before, and until its own end, milliseconds. */
  afterMs: number;
  tookMs: number;
  isWell: boolean;
  bytes: number;
  /** What the helper measured; null where it did not. */
  measured: Pick<TimedRequest, 'transport' | 'ttfbMs' | 'completionMs'> | null;
}

/** What a client's choices cost. */
interface ReplayResult {
  meanMs: number;
  switches: number;
  rollbacks: number;
}

/** How the client chooses: `always`, or as `TransportChooser` does. */
export type Policy =
  | { always: TimedTransport }
  /** The better transport before the change, and that after it. */
  | { always: 'best' }
  /** The same, as the session of the same condition with the other stack shows it. */
  | { always: 'best-with-other-stack' }
  /** TCP in the first half of each phase, then what both sessions show to have been better in that half. */
  | { always: 'best-so-far' }
  | {
      /** Whether QUIC is tried as the extension does, so but never left again for TCP, or only where requests slow down. */
      tries: 'as-shipped' | 'without-rollback' | 'when-slower';
      /** Between two reports, milliseconds; as the helper's unless given. */
      reportsEveryMs?: number;
    };

/** The pairs of sessions, in order of condition and stack. Sessions without requests over both transports are left out. */
export function pairSessions(rows: readonly SessionRow[]): SessionPair[] {
  const pairs = new Map<string, Partial<Record<TimedTransport, SessionRow>>>();
  for (const row of rows) {
    const key = `${row.condition} ${row.stack}`;
    pairs.set(key, { ...pairs.get(key), [row.transport]: row });
  }
  const joined = [...pairs]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, pair]) => joinPair(pair));
  for (const sameCondition of groupBy(joined, ({ condition }) => condition).values()) {
    for (const pair of sameCondition) pair.withOtherStack = sameCondition.find((one) => one !== pair) ?? null;
  }
  return joined;
}

function joinPair({ tcp, quic }: Partial<Record<TimedTransport, SessionRow>>): SessionPair[] {
  if (tcp === undefined || quic === undefined) return [];
  const [own, other] = [requestsByIndex(tcp), requestsByIndex(quic)];
  const shared = [...own.keys()].filter((index) => other.has(index)).toSorted((a, b) => a - b);
  if (shared.length === 0) return [];
  const { condition, split, change, before, changesBefore } = tcp;
  const isBefore = (index: number): boolean => changesBefore === null || index < changesBefore;
  return [
    {
      condition,
      split,
      change,
      isHinderedAtFirst: udpKindOf(before) !== 'open',
      withOtherStack: null,
      requests: shared.map((index) => ({ tcp: own.get(index)!, quic: other.get(index)! })),
      changesAt: shared.filter(isBefore).length,
    },
  ];
}

function requestsByIndex({ requests }: SessionRow): Map<number, RecordedRequest> {
  const order = [...requests.index.keys()].toSorted((a, b) => requests.index[a]! - requests.index[b]!);
  return new Map(
    order.map((at, position) => {
      const former = position === 0 ? 0 : requests.startedMs[order[position - 1]!]!;
      const [protocol, ttfbMs, completionMs] = [
        requests.protocol[at]!,
        requests.ttfbMs[at]!,
        requests.completionMs[at]!,
      ];
      const isMeasured = protocol !== null && ttfbMs !== null && completionMs !== null;
      return [
        requests.index[at]!,
        {
          afterMs: Math.max(0, requests.startedMs[at]! - former),
          tookMs: requests.tookMs[at]!,
          isWell: requests.status[at]! > 0 && requests.status[at]! < 400,
          bytes: requests.bytes[at]!,
          measured: isMeasured
            ? { transport: protocol === HTTP3 ? 'quic' : 'tcp', ttfbMs, completionMs }
            : null,
        },
      ];
    }),
  );
}

export function replaySession(pair: SessionPair, policy: Policy): ReplayResult {
  if ('tries' in policy) return replayChooser(pair, policy);
  const phases = phasesOf(pair);
  const others = pair.withOtherStack && phasesOf(pair.withOtherStack);
  const tookMs = phases.flatMap((requests, phase): number[] => {
    const timesOver = (transport: TimedTransport) => requests.map((request) => request[transport].tookMs);
    switch (policy.always) {
      case 'best':
        return timesOver(fasterOf(requests));
      case 'best-with-other-stack':
        return timesOver(fasterOf(others?.[phase] ?? []));
      case 'best-so-far': {
        const half = Math.floor(requests.length / 2);
        return [
          ...timesOver('tcp').slice(0, half),
          ...timesOver(fasterOf(requests.slice(0, half))).slice(half),
        ];
      }
      default:
        return timesOver(policy.always);
    }
  });
  return { meanMs: mean(tookMs), switches: 0, rollbacks: 0 };
}

/** The requests before the change and those after it. */
const phasesOf = ({ requests, changesAt }: SessionPair): [PairedRequest[], PairedRequest[]] => [
  requests.slice(0, changesAt),
  requests.slice(changesAt),
];

/** The transport over which requests took less; TCP for none. */
function fasterOf(requests: readonly PairedRequest[]): TimedTransport {
  if (requests.length === 0) return 'tcp';
  const meanOver = (transport: TimedTransport) => mean(requests.map((request) => request[transport].tookMs));
  return meanOver('tcp') <= meanOver('quic') ? 'tcp' : 'quic';
}

/** Requests begin as they did after those before them over the transport in use; what has ended is reported from time to time. */
function replayChooser(
  pair: SessionPair,
  { tries, reportsEveryMs = REPORT_MS }: Extract<Policy, { tries: unknown }>,
): ReplayResult {
  const chooser = new TransportChooser();
  const result = { meanMs: 0, switches: 0, rollbacks: 0 };
  const tookMs: number[] = [];
  let nowMs = EPOCH_MS;
  let unreported: { endedAtMs: number; request: RecordedRequest }[] = [];
  // The first response after a report begins the time until the next one.
  const nextReportMs = (): number =>
    Math.min(...unreported.map(({ endedAtMs }) => endedAtMs)) + reportsEveryMs;
  const report = (atMs: number): void => {
    const ended = unreported.filter(({ endedAtMs }) => endedAtMs <= atMs);
    unreported = unreported.filter(({ endedAtMs }) => endedAtMs > atMs);
    const timed = ended
      .toSorted((one, other) => one.endedAtMs - other.endedAtMs)
      .flatMap(({ endedAtMs, request: { measured, bytes, isWell } }) =>
        measured !== null && isWell ? [{ ...measured, endedAtMs, bodyBytes: bytes }] : [],
      );
    // With the present one as what trees prefer, only slower requests are a reason to switch.
    const preferred = tries === 'when-slower' ? chooser.transport : null;
    if (tries === 'without-rollback' && result.switches > 0) return;
    const choice = chooser.add(timed, !pair.isHinderedAtFirst, preferred);
    if (choice === null) return;
    if (choice.reason === 'rolled-back') result.rollbacks += 1;
    else result.switches += 1;
  };
  for (const request of pair.requests) {
    let used = request[chooser.transport];
    for (let atMs = nextReportMs(); atMs <= nowMs + used.afterMs; atMs = nextReportMs()) {
      report(atMs);
      used = request[chooser.transport];
    }
    nowMs += used.afterMs;
    tookMs.push(used.tookMs);
    unreported.push({ endedAtMs: nowMs + used.tookMs, request: used });
    // The helper has fallen back, as it does where HTTP/3 stops working.
    if (chooser.transport === 'quic' && used.measured?.transport === 'tcp') chooser.undoSwitch(nowMs, false);
  }
  result.meanMs = mean(tookMs);
  return result;
}
