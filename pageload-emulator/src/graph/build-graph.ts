import type { RecordedRequest, Recording } from '@hopwise/contract';
import { CHROMIUM_COSTS } from '../client/client-costs.ts';
import { loadRequests, mayBlockLoad } from '../recording/load-requests.ts';
import { timingsByOrigin, waitOf } from '../recording/origin-timings.ts';
import { refuseUnordered } from '../recording/refuse-unordered.ts';
import { documentOf } from '../recording/requests/draft.ts';
import { requestBytesOf, responseBytesOf } from '../recording/sizes.ts';
import { handshakeRounds } from '../transport/handshake.ts';
import { firstIndexWhere } from '../util/ordered.ts';
import { quantile } from '../util/statistics.ts';
import { originOf } from '../util/url.ts';
import { connectionPools } from './connection-pools.ts';
import { dispatchDelays } from './dispatch-delay.ts';
import { DeferredOrder, ExecutionOrder } from './execution-order.ts';
import { findHead, type Head } from './head.ts';
import type { Activity, Dependency, DependencyKind, FetchActivity, PageGraph } from './page-graph.ts';
import { priorityOf } from './priorities.ts';

/** Starts and phases of one recording are off by about this much, as different clocks time them. */
const CLOCK_SLACK_MS = 5;
/** A script whose first request comes later than this after its arrival waited for a timer, not for the main thread. */
const MAX_EXECUTION_MS = 300;
/**
 * Time of Chromium from the arrival of a part of a document to the requests for what the parser finds in it: 8 to 12 ms in
 * loads of generated pages, independent of what arrived meanwhile.
 */
const PARSER_MS = 10;
/** Shorter gaps are the browser's own bookkeeping. */
const MIN_EXECUTION_MS = 1;
/** A blocker of the parser is looked for when a request that the parser found was at least this late. */
const MIN_BLOCK_MS = 10;

/**
 * Builds the page graph of a recorded load: what was fetched before the load event, what each
 * request waited for, and the main thread's work in between.
 *
 * A request depends on its recorded initiator if that one's response had begun when the request was made, else on the
 * document. The parser finds a request in some part of the document; when the request was made shows which part. A request
 * that the parser made late also depends on the last stylesheet or script that arrived before it, if that explains its
 * lateness. Waiting for a free connection comes after `startMs` and is therefore in no delay.
 *
 * Requests outside the load (`loadRequests`) are left out.
 *
 * @throws InputError naming the place where a recording made by hand is not in order
 */
export function buildGraph(recording: Recording): PageGraph {
  refuseUnordered(recording);
  return new GraphBuilder(recording).build();
}

class GraphBuilder {
  readonly #recording: Recording;
  readonly #document: RecordedRequest;
  readonly #loadMs: number;
  readonly #kept: readonly RecordedRequest[];
  /** Activity by recorded request. */
  readonly #fetchOf = new Map<number, number>();
  /** Execution by recorded script. */
  readonly #executionOf = new Map<number, { activity: number; endMs: number }>();
  /** Stylesheets and scripts that may block the parser, in order of arrival. */
  readonly #blockers: RecordedRequest[];
  readonly #pools: readonly number[];
  readonly #head: Head | null;
  readonly #dispatchDelayMs: ReadonlyMap<number, number>;
  readonly #ordered: ExecutionOrder;
  readonly #executions: Map<number, { durationMs: number; endMs: number }>;
  readonly #deferred: DeferredOrder;
  readonly #activities: Activity[] = [];
  #headId: number | null = null;
  readonly #origins: string[] = [];
  readonly #indexOfOrigin = new Map<string, number>();
  readonly #thinkMs: (request: RecordedRequest) => number | undefined;

  constructor(recording: Recording) {
    this.#recording = recording;
    this.#document = documentOf(recording);
    const { kept, loadMs } = loadRequests(recording);
    this.#kept = kept;
    this.#loadMs = loadMs;
    this.#blockers = this.#kept
      .filter((request) => /^(style|script)$/.test(request.type) && priorityOf(request).urgency <= 2)
      .sort((a, b) => a.endMs - b.endMs || b.id - a.id);
    this.#pools = connectionPools(recording);
    this.#head = findHead(this.#document, this.#kept);
    this.#dispatchDelayMs = dispatchDelays(this.#kept);
    this.#ordered = new ExecutionOrder(this.#kept);
    this.#executions = this.#findExecutions();
    this.#deferred = new DeferredOrder(
      recording.requests,
      [...this.#executions].map(([id, { endMs }]) => ({ script: recording.requests[id]!, endMs })),
    );
    this.#thinkMs = thinkTimes(recording);
  }

  build(): PageGraph {
    for (const request of this.#kept) this.#addFetch(request);
    const head = this.#headActivity();
    this.#addLastCompute();
    return {
      url: this.#recording.url,
      origins: this.#origins,
      activities: this.#activities,
      ...(head !== null && { head }),
      client: CHROMIUM_COSTS,
    };
  }

  #addFetch(request: RecordedRequest): void {
    const parent = this.#parentOf(request);
    const after: Dependency[] = [];
    let satisfiedMs = 0;
    if (parent !== null) {
      const edge = this.#edge(request, parent);
      after.push(edge.dependency);
      satisfiedMs = edge.atMs;
      const blocker = this.#blockerOf(request, parent, satisfiedMs);
      if (blocker !== null) {
        after.push({
          activity: this.#fetchOf.get(blocker.id)!,
          kind: 'execution',
          fraction: 1,
          source: 'inferred',
        });
        satisfiedMs = blocker.endMs;
      }
    }
    const id = this.#activities.length;
    const activity: FetchActivity = {
      kind: 'fetch',
      id,
      requestId: request.id,
      url: request.url,
      origin: this.#originIndex(request.url),
      type: request.type,
      requestBytes: requestBytesOf(request),
      responseBytes: responseBytesOf(request),
      blocksLoad: this.#blocksLoad(request),
      renderBlocking: this.#blocksRendering(request),
      ...priorityOf(request),
      after,
      delayMs: Math.max(0, request.startMs - satisfiedMs) + (this.#dispatchDelayMs.get(request.id) ?? 0),
    };
    const thinkMs = this.#thinkMs(request);
    if (thinkMs !== undefined) activity.thinkMs = thinkMs;
    const pool = this.#pools[request.id]!;
    if (pool !== 0) activity.pool = pool;
    const hold = this.#head?.holds.get(request.id);
    if (hold !== undefined) activity.hold = hold;
    this.#fetchOf.set(request.id, id);
    this.#activities.push(activity);
  }

  /** The nearest initiator that is in the graph and had begun to arrive; null for the first request. */
  #parentOf(request: RecordedRequest): RecordedRequest | null {
    const { requests } = this.#recording;
    const seen = new Set<number>([request.id]);
    let at = request.initiator.requestId;
    while (at !== null && !seen.has(at)) {
      seen.add(at);
      const initiator = requests[at];
      if (initiator === undefined) break;
      if (this.#fetchOf.has(at) && responseBegin(initiator) <= request.startMs + CLOCK_SLACK_MS)
        return initiator;
      at = initiator.initiator.requestId;
    }
    const first = this.#kept[0]!;
    if (request === first) return null;
    return this.#fetchOf.has(this.#document.id) &&
      responseBegin(this.#document) <= request.startMs + CLOCK_SLACK_MS
      ? this.#document
      : first;
  }

  #edge(request: RecordedRequest, parent: RecordedRequest): { dependency: Dependency; atMs: number } {
    const source =
      request.initiator.requestId === parent.id && request.initiator.source === 'recorded'
        ? 'recorded'
        : 'inferred';
    const kind = dependencyKind(request, parent);
    const execution = kind === 'script' ? this.#execution(parent) : null;
    if (execution !== null && execution.endMs <= request.startMs + CLOCK_SLACK_MS) {
      return {
        dependency: { activity: execution.activity, kind, fraction: 1, source },
        atMs: execution.endMs,
      };
    }
    // What arrived while the parser was at work on the part with this request did not hold it up.
    const workMs = kind === 'parser' ? PARSER_MS : 0;
    const fraction = kind === 'redirect' ? 1 : arrivedFraction(parent, request.startMs - workMs);
    const beginMs = responseBegin(parent);
    return {
      dependency: { activity: this.#fetchOf.get(parent.id)!, kind, fraction, source },
      atMs: fraction === 1 ? parent.endMs : beginMs + fraction * (parent.endMs - beginMs),
    };
  }

  /** Finds the stylesheet or script that the parser waited for before it found `request`. */
  #blockerOf(request: RecordedRequest, parent: RecordedRequest, satisfiedMs: number): RecordedRequest | null {
    if (parent.type !== 'document' && parent.type !== 'iframe') return null;
    if (request.startMs - satisfiedMs < MIN_BLOCK_MS) return null;
    const blockers = this.#blockers;
    let at = firstIndexWhere(blockers, ({ endMs }) => endMs > request.startMs + 1) - 1;
    while (at >= 0 && (blockers[at]!.startMs >= request.startMs || blockers[at]!.id === parent.id)) at--;
    const last = blockers[at];
    // It explains the lateness if most of the wait had passed when it arrived.
    if (last === undefined || last.endMs - satisfiedMs < (request.startMs - satisfiedMs) / 2) return null;
    return last;
  }

  /**
   * Finds executions of scripts: from a script's arrival to its first request. They share one thread, so each of several
   * overlapping gaps gets the time that those before it left. The parser's time for the head counts as the document's.
   */
  #findExecutions(): Map<number, { durationMs: number; endMs: number }> {
    const firstRequestMs = new Map<number, number>();
    for (const request of this.#kept) {
      const initiator = request.initiator.requestId;
      if (initiator === null || this.#recording.requests[initiator]?.type !== 'script') continue;
      const at = firstRequestMs.get(initiator);
      if (at === undefined || request.startMs < at) firstRequestMs.set(initiator, request.startMs);
    }
    const gaps = [...firstRequestMs].map(([id, endMs]) => {
      const script = this.#recording.requests[id]!;
      const waitedFor = [script, ...this.#ordered.before(script, endMs)];
      return { id, startMs: Math.max(...waitedFor.map((request) => request.endMs)), endMs };
    });
    if (this.#head !== null) {
      const { endMs, blockers } = this.#head;
      gaps.push({
        id: this.#document.id,
        startMs: Math.max(...blockers.map((blocker) => blocker.endMs)),
        endMs,
      });
    }
    const ordered = gaps
      .filter(({ startMs, endMs }) => {
        const gapMs = endMs - startMs;
        return gapMs >= MIN_EXECUTION_MS && gapMs <= MAX_EXECUTION_MS;
      })
      .sort((a, b) => a.endMs - b.endMs || a.id - b.id);
    const executions = new Map<number, { durationMs: number; endMs: number }>();
    let busyUntilMs = 0;
    for (const { id, startMs, endMs } of ordered) {
      executions.set(id, { durationMs: Math.max(0, endMs - Math.max(startMs, busyUntilMs)), endMs });
      busyUntilMs = Math.max(busyUntilMs, endMs);
    }
    return executions;
  }

  /** Returns the activity of a script's execution. It is added on first use, so that edges point backwards. */
  #execution(script: RecordedRequest): { activity: number; endMs: number } | null {
    const known = this.#executionOf.get(script.id);
    if (known) return known;
    const found = this.#executions.get(script.id);
    const fetch = this.#fetchOf.get(script.id);
    if (found === undefined || fetch === undefined) return null;
    const after: Dependency[] = [{ activity: fetch, kind: 'execution', fraction: 1, source: 'inferred' }];
    for (const earlier of this.#ordered.before(script, found.endMs)) {
      const activity = this.#execution(earlier)?.activity ?? this.#fetchOf.get(earlier.id)!;
      after.push({ activity, kind: 'execution', fraction: 1, source: 'inferred' });
    }
    const earlier = this.#deferred.before(script, found.endMs);
    const deferredBy = earlier === null ? null : this.#execution(earlier.script);
    if (deferredBy !== null) {
      after.push({ activity: deferredBy.activity, kind: 'execution', fraction: 1, source: 'inferred' });
    }
    // The parser was still in the head when the script arrived, and had left it when the script made its request.
    if (this.#head !== null && script.endMs < this.#head.endMs && found.endMs >= this.#head.endMs) {
      after.push({ activity: this.#headActivity()!, kind: 'execution', fraction: 1, source: 'inferred' });
    }
    const id = this.#activities.length;
    this.#activities.push({
      kind: 'compute',
      id,
      requestId: script.id,
      durationMs: found.durationMs,
      blocksLoad: (this.#activities[fetch] as FetchActivity).blocksLoad,
      after,
    });
    const execution = { activity: id, endMs: found.endMs };
    this.#executionOf.set(script.id, execution);
    return execution;
  }

  /** Returns the activity of the parser's work on the head, which begins when all that blocks it has arrived; added on first use. */
  #headActivity(): number | null {
    const head = this.#head;
    if (head === null || this.#headId !== null) return this.#headId;
    const id = this.#activities.length;
    this.#activities.push({
      kind: 'compute',
      id,
      requestId: this.#document.id,
      durationMs: this.#executions.get(this.#document.id)?.durationMs ?? 0,
      blocksLoad: true,
      after: head.blockers.map((blocker) => ({
        activity: this.#fetchOf.get(blocker.id)!,
        kind: 'execution',
        fraction: 1,
        source: 'inferred',
      })),
    });
    this.#headId = id;
    return id;
  }

  /** Adds the main thread's work between the last response that blocks the load event and that event. */
  #addLastCompute(): void {
    let lastMs = 0;
    const after: Dependency[] = [];
    for (const activity of this.#activities) {
      if (!activity.blocksLoad) continue;
      if (activity.kind === 'fetch') {
        lastMs = Math.max(lastMs, this.#recording.requests[activity.requestId]!.endMs);
      }
      after.push({ activity: activity.id, kind: 'execution', fraction: 1, source: 'inferred' });
    }
    if (this.#recording.pltMs === null || this.#loadMs <= lastMs) return;
    this.#activities.push({
      kind: 'compute',
      id: this.#activities.length,
      requestId: this.#document.id,
      durationMs: this.#loadMs - lastMs,
      blocksLoad: true,
      after,
    });
  }

  #blocksLoad(request: RecordedRequest): boolean {
    // Responses that ended after the load event did not hold it up: lazy images, late frames.
    return mayBlockLoad(request) && request.endMs <= this.#loadMs + CLOCK_SLACK_MS;
  }

  #blocksRendering(request: RecordedRequest): boolean {
    if (request.type === 'document') return true;
    if (request.renderBlocking !== null) return request.renderBlocking;
    const paintMs =
      this.#recording.firstContentfulPaintMs ?? this.#recording.domContentLoadedMs ?? this.#loadMs;
    if (request.endMs > paintMs || request.initiator.kind !== 'parser') return false;
    return request.type === 'style' || (request.type === 'script' && priorityOf(request).urgency <= 1);
  }

  #originIndex(url: string): number {
    const origin = originOf(url)!;
    let index = this.#indexOfOrigin.get(origin);
    if (index === undefined) {
      index = this.#origins.push(origin) - 1;
      this.#indexOfOrigin.set(origin, index);
    }
    return index;
  }
}

function dependencyKind(request: RecordedRequest, parent: RecordedRequest): DependencyKind {
  if (request.initiator.kind === 'redirect') return 'redirect';
  if (parent.type === 'style') return 'style';
  if (parent.type === 'script') return 'script';
  return request.initiator.kind === 'script' ? 'script' : 'parser';
}

/** When a response began, milliseconds; when withheld, half-way between request and last byte. */
function responseBegin(request: RecordedRequest): number {
  return request.phases.responseStartMs ?? (request.startMs + request.endMs) / 2;
}

function arrivedFraction(parent: RecordedRequest, atMs: number): number {
  const beginMs = responseBegin(parent);
  if (atMs >= parent.endMs - CLOCK_SLACK_MS || parent.endMs <= beginMs) return 1;
  return Math.max(0, (atMs - beginMs) / (parent.endMs - beginMs));
}

/**
 * Server time of requests that the server works on: documents, frames, API calls, milliseconds; undefined for other
 * requests. Waits for static files are mostly queueing on the recorder's link, so they get their server's typical time.
 */
function thinkTimes(recording: Recording): (request: RecordedRequest) => number | undefined {
  const origins = timingsByOrigin(recording);
  const typicalRttMs = quantile(
    [...origins.values()].flatMap(({ rttMs }) => (rttMs === null ? [] : [rttMs])),
    0.5,
  );
  return (request) => {
    if (request.type !== 'document' && request.type !== 'iframe' && request.type !== 'fetch')
      return undefined;
    const timings = origins.get(originOf(request.url) ?? '');
    const waitMs = waitOf(request) ?? withheldWait(request, timings?.requests[0] === request, typicalRttMs);
    if (waitMs === null) return undefined;
    // A wait is only an upper bound of its own origin's round trip.
    const rttMs = timings?.fromHandshake ? timings.rttMs : typicalRttMs;
    return Math.max(0, waitMs - (rttMs ?? waitMs));
  };
}

/**
 * The wait of a cross-origin redirect, whose phases browsers withhold: its duration less its handshakes. Its body is too
 * small to take time.
 */
function withheldWait(request: RecordedRequest, first: boolean, rttMs: number | null): number | null {
  if (request.status < 300 || request.status >= 400 || rttMs === null) return null;
  if (request.phases.responseStartMs !== null) return null;
  const handshakes = first ? handshakeRounds(request.protocol ?? 'h2', isSecure(request) ? '1.3' : null) : [];
  return Math.max(0, request.endMs - request.startMs - handshakes.length * rttMs);
}

function isSecure({ url }: RecordedRequest): boolean {
  return url.startsWith('https:');
}
