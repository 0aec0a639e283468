import type { ResourceType } from '@hopwise/contract';
import type { ClientCosts } from '../client/client-costs.ts';
import type { Hold } from '../client/low-priority-gate.ts';

/** Why an activity waits for another. */
export type DependencyKind =
  /** The document's parser (or preload scanner) found it. */
  | 'parser'
  /** A script requested it. */
  | 'script'
  /** A stylesheet requested it. */
  | 'style'
  /** A `Location` header led to it. */
  | 'redirect'
  /** It runs on the main thread after the other one. */
  | 'execution';

/** One edge: the activity that it belongs to waits for `activity`. */
export interface Dependency {
  /** Index into `PageGraph.activities`. */
  activity: number;
  /** Why it waits. */
  kind: DependencyKind;
  /**
   * Fraction of the other activity's response body that must have arrived, 0 to 1: a parser finds an image before the
   * document has ended. 1 for dependencies on the whole response and on computations.
   */
  fraction: number;
  /** Whether the recording states the edge. */
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
  /** Urgency that Chromium requests (RFC 9218): 0 (highest) to 7. */
  urgency: number;
  /** RFC 9218's `i`: whether the client can use the response in parts. */
  incremental: boolean;
  /** All of these must have happened before it starts. */
  after: Dependency[];
  /** Milliseconds between the last dependency and the request. */
  delayMs: number;
  /**
   * Server's time from the request's last byte to the response's first, milliseconds, when the recording shows it for this
   * request; otherwise `ServerProfile.thinkMs` applies.
   */
  thinkMs?: number;
  /** Server's time from the response's first byte to its last, milliseconds; absent where the network alone takes time for it. */
  bodyMs?: number;
  /** Requests to one origin share connections only within a pool; 0 when absent. */
  pool?: number;
  /** How it is held back while the document's head is being parsed (`PageGraph.head`); absent when it is not held back. */
  hold?: Hold;
}

/** Work on the main thread. */
export interface ComputeActivity {
  kind: 'compute';
  /** Index into `PageGraph.activities`. */
  id: number;
  /** `RecordedRequest.id` of the response that is worked on. */
  requestId: number;
  /** Time on the main thread, milliseconds. */
  durationMs: number;
  /** Whether the load event waits for it. */
  blocksLoad: boolean;
  /** All of these must have happened before it starts. */
  after: Dependency[];
}

/** One step of a page load: a transfer or work on the main thread. */
export type Activity = FetchActivity | ComputeActivity;

/** The activities of a page load and what each waits for; acyclic, edges point backwards. */
export interface PageGraph {
  /** URL of the page, after redirects. */
  url: string;
  /** `https://host[:port]`, in order of first use. */
  origins: string[];
  /** Each after the activities that it waits for. */
  activities: Activity[];
  /** The activity whose end is the end of the document's head; absent when the head holds nothing back. */
  head?: number;
  /** Connections that are open when their first requests come, as after a reload; none when absent. `FetchActivity.origin` and `pool`. */
  openConnections?: readonly { origin: number; pool: number }[];
  /**
   * Whether the browser opens HTTP/3 as soon as a response announces it, as Firefox does to validate it (`AltSvcTransaction`), and not for the
   * next request, as Chromium does; not when absent.
   */
  opensAnnouncedH3?: boolean;
  /** Connections that a document announces (`rel=preconnect`), opened this long after its first bytes; none when absent. */
  preconnects?: {
    /** The document. */
    activity: number;
    delayMs: number;
    /** `FetchActivity.origin` and `pool`. */
    connections: readonly { origin: number; pool: number }[];
  };
  /** Time that the browser itself takes; none when absent. */
  client?: ClientCosts;
}
