import type { Protocol, ResourceType } from '@hopwise/pageload-emulator';
import type { Request } from 'playwright-core';

/** A request and its answer. Times are milliseconds after the navigation began. */
export interface Captured {
  /** Without fragment. */
  url: string;
  method: string;
  type: ResourceType;
  startMs: number;
  endMs: number;
  /** Milliseconds after `startMs`; -1 for a phase that did not take place. */
  timing: ReturnType<Request['timing']>;
  /** SHA-256 of the request's body in hex; null without one. */
  requestSha256: string | null;
  /** Null when there was none. */
  answer: CapturedAnswer | null;
  /** Why the answer is missing or incomplete; null otherwise. */
  failure: string | null;
}

export interface CapturedAnswer {
  status: number;
  headers: { name: string; value: string }[];
  protocol: Protocol | null;
  remoteIp: string | null;
  /** Body bytes on the wire; null when the browser did not report them. */
  bodyBytes: number | null;
  /** Decoded; null when it is not available. */
  body: Uint8Array | null;
}

/** `Captured.failure` for a body that is not available. */
export const NOT_KEPT = 'its body is beyond the limit or was not kept by the browser';
/** Requests beyond this are not kept. */
export const MAX_REQUESTS = 5_000;
