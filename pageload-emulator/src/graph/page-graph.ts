import type { ResourceType } from '@hopwise/contract';
import type { ClientCosts } from '../client/client-costs.ts';
import type { Hold } from '../client/low-priority-gate.ts';

/** Why an activity waits for another. */
export type DependencyKind =
  /** The document's parser (or preload scanner) found it. */
  | 'parser'
  /** A script asked for it. */
  | 'script'
  /** A stylesheet asked for it. */
  | 'style'
  /** A `Location` header led to it. */
  | 'redirect'
  /** It runs on the main thread after the other one. */
  | 'execution';

/** One edge: the activity that holds it waits for `activity`. */
export interface Dependency {
  /** Index into `PageGraph.activities`. */
  activity: number;
  /** Why it waits. */
  kind: DependencyKind;
  /**
   * Part of the other activity's response body that must have arrived, 0 to 1: a parser finds
   * an image before the document has ended. 1 for everything that waits for the whole.
   */
  fraction: number;
  /** Whether the recording states it. */
  source: 'recorded' | 'inferred';
}

/** A transfer. */
export interface FetchActivity {
  kind: 'fetch';
  /** Index into `PageGraph.activities`. */
  id: number;
  /** `RecordedRequest.id`. */
  requestId: number;
  /** Absolute, without fragment. */
  url: string;
  /** Index into `PageGraph.origins`. */
  origin: number;
  type: ResourceType;
  /** Request bytes on the wire, headers uncompressed. */
  requestBytes: number;
  /** Response bytes on the wire, headers included. */
  responseBytes: number;
  /** Whether the load event waits for it. */
  blocksLoad: boolean;
  /** Whether the first paint waits for it. */
  renderBlocking: boolean;
  /** Urgency as Chromium asks for it, RFC 9218: 0 (highest) to 7. */
  urgency: number;
  /** RFC 9218's `i`: whether it is useful in parts. */
  incremental: boolean;
  /** Everything here must have happened before it starts. */
  after: Dependency[];
  /** Milliseconds between the last dependency and the request. */
  delayMs: number;
  /**
   * Server's time from the request's last byte to the response's first, where the recording tells
   * it for this request; otherwise `ServerProfile.thinkMs` goes.
   */
  thinkMs?: number;
  /** Requests to one origin share connections only within a pool; absent for 0. */
  pool?: number;
  /** How it is held back while the document's head is being parsed (`PageGraph.head`); absent when it is not. */
  hold?: Hold;
}

/** Work on the main thread. */
export interface ComputeActivity {
  kind: 'compute';
  /** Index into `PageGraph.activities`. */
  id: number;
  /** The request whose response is worked on. */
  requestId: number;
  /** Time on the main thread, milliseconds. */
  durationMs: number;
  /** Whether the load event waits for it. */
  blocksLoad: boolean;
  /** Everything here must have happened before it starts. */
  after: Dependency[];
}

/** What a page load consists of. */
export type Activity = FetchActivity | ComputeActivity;

/** The activities of a page load and what each waits for; acyclic, edges point backwards. */
export interface PageGraph {
  /** Of the page, after redirects. */
  url: string;
  /** `https://host[:port]`, in order of first use. */
  origins: string[];
  /** In such an order that each comes after what it waits for. */
  activities: Activity[];
  /** Activity with whose end the document's head ends; absent when it holds nothing back. */
  head?: number;
  /** What the browser that loads the page costs; nothing when absent. */
  client?: ClientCosts;
}
