import type { ResourceType } from '@hopwise/pageload-emulator';
import type { ObservedRequest } from './observed-request.ts';
import type { FrameTimings, RequestMaker, ResourceEntry } from './page-timings.ts';

/** What a frame measured, with its id in the tab (0 is the top frame). */
export interface FrameReport extends FrameTimings {
  frameId: number;
}

/** A request with the data of both sources, webRequest and Resource Timing, before it becomes a recorded one. */
export interface JoinedRequest {
  /** Null for requests that never reached the network (answered by the memory cache or a service worker). */
  observed: ObservedRequest | null;
  /** Null for redirect hops and for requests that the page's timings do not list. */
  entry: ResourceEntry | null;
  /** Frame whose timings list the request: for an iframe's document, its parent. */
  frame: FrameReport | null;
  /** For the document of a frame: that frame. */
  documentOf: FrameReport | null;
  /** The hop that redirected here. */
  redirectedFrom: JoinedRequest | null;
  /** What requested the first hop; null where the page's timings do not show it. */
  maker: RequestMaker | null;
  type: ResourceType;
  /** Milliseconds after the page's navigationStart. */
  startMs: number;
  /** When webRequest saw the response's headers, some milliseconds after they arrived; null without a response. */
  headersMs: number | null;
  endMs: number;
}
