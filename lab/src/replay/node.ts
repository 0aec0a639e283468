/** Structure replay: a recorded request that is made again. */
import type { RecordedRequest, ResourceType } from '@hopwise/pageload-emulator';

/** The means by which the replay makes a request. */
export type Means =
  | 'navigation'
  /** `Location` of the parent's answer. */
  | 'redirect'
  /** Tag in the parent's markup. */
  | 'markup'
  /** `<link rel="preload">` in the parent's markup; the tag that uses it comes at the end. */
  | 'preload'
  /** Rule of the parent stylesheet, or of a `<style>` in the parent's markup. */
  | 'style'
  /** Statement of the parent script, or of an inline script in the parent's markup. */
  | 'script';

/** The part of a recorded request that a site's bodies depend on. */
export type PlannedRequest = Pick<RecordedRequest, 'id' | 'status' | 'renderBlocking'>;

export interface ReplayNode<R extends PlannedRequest = RecordedRequest> {
  request: R;
  type: ResourceType;
  means: Means;
  origin: string;
  path: string;
  url: string;
  /** Other methods would need a preflight that the recording may lack. */
  method: 'GET' | 'POST';
  /** Response body on the wire. */
  bytes: number;
  thinkMs: number;
  parent: ReplayNode<R> | null;
  children: ReplayNode<R>[];
  /** For requests made by a script: the sibling whose end it waits for; null when it waits only for the script's run. */
  after: ReplayNode<R> | null;
  /** Markup: fraction of the parent's body before it, 0 to 1. */
  place: number;
  /** Markup: order among requests at the same place. */
  order: number;
  /** Script: wait after the run of the script (or the end of `after`, or the load event). */
  delayMs: number;
  /** Started after the load event; waits for it. */
  afterLoad: boolean;
  /** Scripts: time on the main thread. */
  busyMs: number;
  /** Scripts in markup: whether the parser waits for it. */
  blocksParser: boolean;
  /** Markup: origins that its head connects to ahead (`rel=preconnect`). */
  connectsTo?: readonly string[];
}

export const isMarkup = ({ type }: Pick<ReplayNode, 'type'>): boolean =>
  type === 'document' || type === 'iframe';

export const responseStart = ({ request }: ReplayNode): number =>
  request.phases.responseStartMs ?? request.startMs;

/** Target of a redirect, if the recording has it; otherwise the redirect is replayed as an ordinary answer. */
export const redirectTarget = <R extends PlannedRequest>(node: ReplayNode<R>): ReplayNode<R> | null =>
  isRedirect(node.request) ? (node.children.find(({ means }) => means === 'redirect') ?? null) : null;

export const isRedirect = ({ status }: Pick<RecordedRequest, 'status'>): boolean =>
  [301, 302, 303, 307, 308].includes(status);

export const inMarkup = <R extends PlannedRequest>(document: ReplayNode<R>): ReplayNode<R>[] =>
  document.children
    .filter(({ means }) => means !== 'style' && means !== 'redirect')
    .sort((a, b) => a.place - b.place || a.order - b.order);
