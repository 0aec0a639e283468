import type { Protocol, RecordedRequest, Recording, ResourceType } from '@hopwise/contract';
import type { CriticalStep } from '@hopwise/pageload-emulator';
import type { WaterfallBar, WaterfallRow } from '../../ui/waterfall.ts';

/** What a waterfall shows: the recorded load or an emulated one. */
export type LoadName = 'recorded' | Protocol;

export type SortKey = 'name' | 'status' | 'type' | 'protocol' | 'priority' | 'start' | 'size' | 'duration';

/** The order of rows: by a key, in its usual direction or the other one. */
export interface Sorting {
  key: SortKey;
  isReversed: boolean;
}

export interface Filter {
  /** Part of the URL, in any case. */
  text: string;
  type: ResourceType | null;
  origin: string | null;
  protocol: Protocol | null;
  isCriticalOnly: boolean;
}

/** One request of the page in one or two loads. */
export interface RequestRow {
  request: RecordedRequest;
  main: WaterfallRow;
  /** The same request in the load that is compared with; null when it is in none. */
  compared: WaterfallRow | null;
  /** Where the critical path of the main load runs through the request. */
  critical: CriticalStep | null;
}

export const NO_FILTER: Filter = {
  text: '',
  type: null,
  origin: null,
  protocol: null,
  isCriticalOnly: false,
};

/** Joins the requests of a load with those of another, and with the critical path. */
export function joinRows(
  recording: Recording,
  main: readonly WaterfallRow[],
  compared: readonly WaterfallRow[] | null,
  criticalPath: readonly CriticalStep[],
): RequestRow[] {
  const others = new Map(compared?.map((row) => [row.requestId, row]));
  const steps = new Map(criticalPath.map((step) => [step.requestId, step]));
  return main.flatMap((row) => {
    const request = recording.requests[row.requestId];
    if (!request) return [];
    const { requestId } = row;
    return {
      request,
      main: row,
      compared: others.get(requestId) ?? null,
      critical: steps.get(requestId) ?? null,
    };
  });
}

export function filterRows(rows: readonly RequestRow[], filter: Filter): RequestRow[] {
  const text = filter.text.toLowerCase();
  return rows.filter(
    ({ request, main, critical }) =>
      (text === '' || request.url.toLowerCase().includes(text)) &&
      (filter.type === null || request.type === filter.type) &&
      (filter.origin === null || originName(request.url) === filter.origin) &&
      (filter.protocol === null || main.protocol === filter.protocol) &&
      (!filter.isCriticalOnly || critical !== null),
  );
}

const KEYS: Record<SortKey, (row: RequestRow) => number | string> = {
  name: ({ request }) => request.url,
  status: ({ request }) => request.status,
  type: ({ request }) => request.type,
  protocol: ({ main }) => main.protocol ?? '',
  priority: ({ request }) => request.urgency ?? Number.POSITIVE_INFINITY,
  start: ({ main }) => main.startMs,
  size: ({ request }) => -(request.transferBytes ?? request.bodyBytes ?? 0),
  duration: ({ main }) => main.startMs - main.endMs,
};

/** Sorts by a key, then by start: durations and sizes from the largest on. */
export function sortRows(rows: readonly RequestRow[], { key, isReversed }: Sorting): RequestRow[] {
  const of = KEYS[key];
  const direction = isReversed ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [x, y] = [of(a), of(b)];
    return (
      (x < y ? -direction : x > y ? direction : 0) ||
      a.main.startMs - b.main.startMs ||
      a.request.id - b.request.id
    );
  });
}

export function originName(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

/** The requests that led to a request, from the document on, itself included. */
export function initiatorChain({ requests }: Recording, request: RecordedRequest): RecordedRequest[] {
  const chain = [request];
  for (let at = request.initiator.requestId; at !== null; ) {
    const before = requests[at];
    if (!before || chain.includes(before)) break;
    chain.unshift(before);
    at = before.initiator.requestId;
  }
  return chain;
}

/** Requests that a request led to. */
export function dependentsOf({ requests }: Recording, { id }: RecordedRequest): RecordedRequest[] {
  return requests.filter(({ initiator }) => initiator.requestId === id);
}

/** A visible range of time, milliseconds after navigationStart. */
export interface TimeRange {
  fromMs: number;
  toMs: number;
}

/** The shortest visible range. */
const MIN_RANGE_MS = 10;

/** Zooms a range by a factor around a time and keeps it within the load. */
export function zoom(
  { fromMs, toMs }: TimeRange,
  factor: number,
  aroundMs: number,
  endMs: number,
): TimeRange {
  const length = Math.min(endMs, Math.max(MIN_RANGE_MS, (toMs - fromMs) * factor));
  const share = (aroundMs - fromMs) / (toMs - fromMs);
  const from = Math.min(endMs - length, Math.max(0, aroundMs - share * length));
  return { fromMs: from, toMs: from + length };
}

/** Place of a bar in a visible range, as percentages; null when it is outside. */
export function placeBar(
  { startMs, endMs }: Pick<WaterfallBar, 'startMs' | 'endMs'>,
  { fromMs, toMs }: TimeRange,
): { left: number; width: number } | null {
  if (endMs < fromMs || startMs > toMs) return null;
  const percent = (ms: number) => (100 * (Math.min(toMs, Math.max(fromMs, ms)) - fromMs)) / (toMs - fromMs);
  return { left: percent(startMs), width: percent(endMs) - percent(startMs) };
}
