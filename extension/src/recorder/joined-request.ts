import type { ResourceType } from '@hopwise/pageload-emulator';
import type { ObservedRequest } from './observed-request.ts';
import type { FrameTimings, ResourceEntry } from './page-timings.ts';

/** What the frames of a page measured, with the frame's id in its tab (0 is the top frame). */
export interface FrameReport extends FrameTimings {
  frameId: number;
}

/** A request under way from webRequest to the recording: what each side knows of it. */
export interface JoinedRequest {
  /** Null for what never reached the network (memory cache, a service worker's answer). */
  observed: ObservedRequest | null;
  /** Null for redirect hops and for what the page's timings do not list. */
  entry: ResourceEntry | null;
  /** Frame that holds the request: for an iframe's document, its parent. */
  frame: FrameReport | null;
  /** For the document of a frame: that frame. */
  documentOf: FrameReport | null;
  /** The hop that redirected here. */
  redirectedFrom: JoinedRequest | null;
  type: ResourceType;
  /** Milliseconds after the page's navigationStart. */
  startMs: number;
  endMs: number;
}
