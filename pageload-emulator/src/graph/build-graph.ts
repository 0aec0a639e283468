import { CLOCK_SLACK_MS, type RecordedRequest, type Recording } from '@hopwise/contract';
import { CHROMIUM_COSTS } from '../client/client-costs.ts';
import { loadRequests, mayBlockLoad } from '../recording/load-requests.ts';
import { nameParsersDocument } from '../recording/parsers-document.ts';
import { refuseUnordered } from '../recording/refuse-unordered.ts';
import { documentOf } from '../recording/requests/draft.ts';
import { requestBytesOf, responseBytesOf } from '../recording/sizes.ts';
import { originOf } from '../util/url.ts';
import { bodyTimes } from './body-times.ts';
import { connectionPools } from './connection-pools.ts';
import { dispatchDelays } from './dispatch-delay.ts';
import { findHead, type Head } from './head.ts';
import type { KnownLink } from './known-link.ts';
import { longWaits } from './long-waits.ts';
import { findOpenConnections } from './open-connections.ts';
import type { Activity, Dependency, FetchActivity, PageGraph } from './page-graph.ts';
import { ParserBlockers } from './parser-blockers.ts';
import { priorityOf } from './priorities.ts';
import { findParents, type Parent } from './request-parents.ts';
import { arrivalMs, arrivedFraction } from './response-arrival.ts';
import { type Execution, type Executions, findExecutions } from './script-executions.ts';
import { thinkTimes } from './think-times.ts';

/**
 * Time of Chromium from the arrival of a part of a document to the requests for what the parser finds in it: 8 to 12 ms in
 * loads of generated pages, independent of what arrived meanwhile.
 */
export const PARSER_MS = 10;

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
 * @param link the one that the load was recorded on; what arrivals show of it where it is not known yet
 * @throws InputError naming the place where a recording made by hand is not in order
 */
export function buildGraph(recording: Recording, link?: KnownLink): PageGraph {
  refuseUnordered(recording);
  return new GraphBuilder(nameParsersDocument(recording), link).build();
}

class GraphBuilder {
  readonly #recording: Recording;
  readonly #document: RecordedRequest;
  readonly #loadMs: number;
  readonly #kept: readonly RecordedRequest[];
  /** Activity by recorded request. */
  readonly #fetchOf = new Map<number, number>();
  readonly #activityOf = new Map<Execution, number>();
  readonly #parents: ReadonlyMap<number, Parent>;
  readonly #blockers: ParserBlockers;
  readonly #pools: readonly number[];
  readonly #head: Head | null;
  readonly #dispatchDelayMs: ReadonlyMap<number, number>;
  readonly #longWaitMs: ReadonlyMap<number, number>;
  readonly #executions: Executions;
  readonly #activities: Activity[] = [];
  #headId: number | null = null;
  readonly #origins: string[] = [];
  readonly #indexOfOrigin = new Map<string, number>();
  readonly #bodyMs: ReadonlyMap<number, number>;
  readonly #thinkMs: (request: RecordedRequest) => number | undefined;

  constructor(recording: Recording, link: KnownLink | undefined) {
    this.#recording = recording;
    this.#document = documentOf(recording);
    const { kept, loadMs } = loadRequests(recording);
    this.#kept = kept;
    this.#loadMs = loadMs;
    this.#parents = findParents(recording, kept);
    this.#blockers = new ParserBlockers(kept);
    this.#pools = connectionPools(recording);
    this.#head = findHead(this.#document, this.#kept);
    this.#dispatchDelayMs = dispatchDelays(this.#kept);
    this.#longWaitMs = longWaits(recording.requests);
    this.#executions = findExecutions(kept, this.#parents, this.#head);
    this.#thinkMs = thinkTimes(recording, link);
    this.#bodyMs = bodyTimes(recording, link);
  }

  build(): PageGraph {
    for (const request of this.#kept) this.#addFetch(request);
    const head = this.#headActivity();
    this.#addLastCompute();
    const openConnections = this.#openConnections();
    return {
      url: this.#recording.url,
      origins: this.#origins,
      activities: this.#activities,
      ...(head !== null && { head }),
      ...(openConnections.length > 0 && { openConnections }),
      ...(/^firefox/i.test(this.#recording.browser) && { opensAnnouncedH3: true }),
      client: CHROMIUM_COSTS,
    };
  }

  #openConnections(): NonNullable<PageGraph['openConnections']> {
    return findOpenConnections(this.#recording, this.#kept, this.#pools).map(({ origin, pool }) => ({
      origin: this.#indexOfOrigin.get(origin)!,
      pool,
    }));
  }

  #addFetch(request: RecordedRequest): void {
    const parent = this.#parents.get(request.id);
    const after: Dependency[] = [];
    let satisfiedMs = 0;
    if (parent !== undefined) {
      const edge = this.#edge(request, parent);
      after.push(edge.dependency);
      satisfiedMs = edge.atMs;
      const blocker = this.#blockers.before(request, parent.request, satisfiedMs);
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
      delayMs: Math.max(0, request.startMs - satisfiedMs) + this.#heldMs(request),
    };
    const thinkMs = this.#thinkMs(request);
    if (thinkMs !== undefined) activity.thinkMs = thinkMs;
    const bodyMs = this.#bodyMs.get(request.id);
    if (bodyMs !== undefined) activity.bodyMs = bodyMs;
    const pool = this.#pools[request.id]!;
    if (pool !== 0) activity.pool = pool;
    const hold = this.#head?.holds.get(request.id);
    if (hold !== undefined) activity.hold = hold;
    this.#fetchOf.set(request.id, id);
    this.#activities.push(activity);
  }

  /** For how long the browser kept a request for reasons of its own. */
  #heldMs({ id }: RecordedRequest): number {
    return this.#longWaitMs.get(id) ?? this.#dispatchDelayMs.get(id) ?? 0;
  }

  #edge(request: RecordedRequest, parent: Parent): { dependency: Dependency; atMs: number } {
    const { kind, source } = parent;
    const execution = kind === 'script' ? this.#executions.before(request, parent.request) : null;
    if (execution !== null && execution.endMs <= request.startMs + CLOCK_SLACK_MS) {
      return {
        dependency: { activity: this.#executionActivity(execution), kind, fraction: 1, source },
        atMs: execution.endMs,
      };
    }
    // What arrived while the parser was at work on the part with this request did not hold it up.
    const workMs = kind === 'parser' ? PARSER_MS : 0;
    const fraction = kind === 'redirect' ? 1 : arrivedFraction(parent.request, request.startMs - workMs);
    return {
      dependency: { activity: this.#fetchOf.get(parent.request.id)!, kind, fraction, source },
      atMs: arrivalMs(parent.request, fraction),
    };
  }

  /** Returns the activity of an execution. It is added on first use, so that edges point backwards. */
  #executionActivity(execution: Execution): number {
    const known = this.#activityOf.get(execution);
    if (known !== undefined) return known;
    const { script, durationMs, endMs, blockers, imports, earlier } = execution;
    const fetch = this.#fetchOf.get(script.id)!;
    const activities = [fetch];
    for (const blocker of blockers) {
      const run = this.#executions.of(blocker);
      activities.push(run === null ? this.#fetchOf.get(blocker.id)! : this.#executionActivity(run));
    }
    for (const { id } of imports) activities.push(this.#fetchOf.get(id)!);
    if (earlier !== null) activities.push(this.#executionActivity(earlier));
    // The parser was still in the head when the script arrived, and had left it when the script made its request.
    if (this.#head !== null && script.endMs < this.#head.endMs && endMs >= this.#head.endMs) {
      activities.push(this.#headActivity()!);
    }
    const id = this.#activities.length;
    this.#activities.push({
      kind: 'compute',
      id,
      requestId: script.id,
      durationMs,
      blocksLoad: (this.#activities[fetch] as FetchActivity).blocksLoad,
      after: activities.map((activity) => ({ activity, kind: 'execution', fraction: 1, source: 'inferred' })),
    });
    this.#activityOf.set(execution, id);
    return id;
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
      durationMs: this.#executions.headMs,
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

  /** Adds the main thread's work between the load event and what it waits for last: a response, or the execution of a script. */
  #addLastCompute(): void {
    const executionMs = new Map([...this.#activityOf].map(([{ endMs }, activity]) => [activity, endMs]));
    let lastMs = 0;
    const after: Dependency[] = [];
    for (const activity of this.#activities) {
      if (!activity.blocksLoad) continue;
      const endMs =
        activity.kind === 'fetch'
          ? this.#recording.requests[activity.requestId]!.endMs
          : (executionMs.get(activity.id) ?? 0);
      lastMs = Math.max(lastMs, endMs);
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
    return mayBlockLoad(request, this.#recording) && request.endMs <= this.#loadMs + CLOCK_SLACK_MS;
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
