/** Structure replay: what of a recording is requested again, by whom, where from and when. */
import type { RecordedRequest, Recording, ResourceType } from '@hopwise/pageload-emulator';
import { hostNames } from './hosts.ts';
import { serverTimes } from './server-times.ts';

/** By what means the replay makes a request. */
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

export interface ReplayNode {
  request: RecordedRequest;
  type: ResourceType;
  means: Means;
  origin: string;
  path: string;
  url: string;
  /** Response body on the wire. */
  bytes: number;
  thinkMs: number;
  parent: ReplayNode | null;
  children: ReplayNode[];
  /** The sibling whose end it waits for, when a script makes it; null when the script's own run. */
  after: ReplayNode | null;
  /** Markup: part of the parent's body before it, 0 to 1. */
  place: number;
  /** Markup: order among what has the same place. */
  order: number;
  /** Script: wait after the run of the script (or the end of `after`, or the load event). */
  delayMs: number;
  /** Begun after the load event; waits for it. */
  afterLoad: boolean;
  /** Scripts: time on the main thread. */
  busyMs: number;
  /** Scripts in markup: whether the parser waits for it. */
  blocksParser: boolean;
}

export interface SkippedRequest {
  id: number;
  url: string;
  reason: string;
}

export interface ReplayPlan {
  nodes: ReplayNode[];
  entry: ReplayNode;
  /** The document that the navigation, after its redirects, came to. */
  page: ReplayNode;
  origins: { origin: string; extraRttMs: number }[];
  skipped: SkippedRequest[];
}

export interface ReplayLimits {
  maxRequests: number;
  maxOrigins: number;
}

/**
 * The parser finds what a document names in one go. What comes so long after the document and after all that was found
 * before it was made by a script, whatever the recorder says.
 */
const PARSER_PAUSE_MS = 100;
/** A request that begins so soon after its sibling's end waits for it. */
const CHAINED_WITHIN_MS = 20;
/** More of a gap than this is waiting, not work. */
const MAX_BUSY_MS = 100;
/** Statements nest as deep as requests wait for each other. */
const MAX_CHAIN = 100;
const MAX_DELAY_MS = 30_000;
const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** Of an answer whose headers and body the recorder gives as one number. */
const TYPICAL_HEADER_BYTES = 300;
/** URLs are as long as recorded, as they take part in upload; up to what servers accept. */
const MAX_PATH_LENGTH = 2000;

const EXTENSION: Record<ResourceType, string> = {
  document: 'html',
  iframe: 'html',
  style: 'css',
  script: 'js',
  font: 'woff2',
  image: 'png',
  media: 'bin',
  fetch: 'bin',
  beacon: 'bin',
  other: 'bin',
};

/**
 * @throws {RangeError} naming the entry or the number, when the recording holds nothing that can be replayed or is too large.
 */
export function planReplay(recording: Recording, limits: ReplayLimits): ReplayPlan {
  const skipped: SkippedRequest[] = [];
  const kept: RecordedRequest[] = [];
  for (const request of recording.requests) {
    const reason = reasonToSkip(request);
    if (reason === null) kept.push(request);
    else skipped.push({ id: request.id, url: request.url, reason });
  }
  if (kept.length === 0)
    throw new RangeError('requests: expected one that was answered over the network, got none');
  if (kept.length > limits.maxRequests) {
    throw new RangeError(`requests: expected at most ${limits.maxRequests}, got ${kept.length}`);
  }
  const hosts = hostNames(kept.map(({ url }) => url));
  const origins = [...new Set(hosts.values())];
  if (origins.length > limits.maxOrigins) {
    throw new RangeError(`requests: expected at most ${limits.maxOrigins} origins, got ${origins.length}`);
  }
  const times = serverTimes(kept);
  const nodes = kept.map((request): ReplayNode => {
    const origin = `https://${hosts.get(new URL(request.url).origin) as string}`;
    const path = pathOf(request);
    return {
      request,
      type: request.type,
      means: 'markup',
      origin,
      path,
      url: origin + path,
      bytes: Math.min(MAX_BODY_BYTES, bodyBytesOf(request)),
      thinkMs: times.thinkMs(request),
      parent: null,
      children: [],
      after: null,
      place: 1,
      order: request.startMs,
      delayMs: 0,
      afterLoad: recording.pltMs !== null && request.startMs >= recording.pltMs,
      busyMs: 0,
      blocksParser: false,
    };
  });

  const entry = nodes[0] as ReplayNode;
  entry.means = 'navigation';
  const page = followRedirects(nodes, entry);
  const links = new Linker(recording, nodes, page);
  for (const node of nodes) if (node.parent === null && node !== entry) links.link(node);
  for (const node of nodes) decideBlocking(node);
  for (const node of nodes) placeInlineScript(node);
  scheduleScripts(nodes, recording.pltMs);
  return {
    nodes,
    entry,
    page,
    origins: origins.map((host) => {
      const origin = `https://${host}`;
      const from = kept.filter(({ url }) => hosts.get(new URL(url).origin) === host);
      return { origin, extraRttMs: times.extraRttMs(from) };
    }),
    skipped,
  };
}

function reasonToSkip(request: RecordedRequest): string | null {
  if (!URL.canParse(request.url)) return 'the URL cannot be read';
  if (!/^https?:$/.test(new URL(request.url).protocol)) return 'not http or https';
  if (request.fromCache) return 'from the cache';
  if (request.status === 0) return 'not answered';
  return null;
}

function bodyBytesOf({ bodyBytes, transferBytes, decodedBytes }: RecordedRequest): number {
  return Math.round(
    bodyBytes ??
      (transferBytes === null ? (decodedBytes ?? 0) : Math.max(0, transferBytes - TYPICAL_HEADER_BYTES)),
  );
}

function pathOf(request: RecordedRequest): string {
  const path = `/${request.id}.${isRedirect(request) ? 'to' : EXTENSION[request.type]}`;
  const { pathname, search } = new URL(request.url);
  const missing = Math.min(pathname.length + search.length, MAX_PATH_LENGTH) - path.length - 1;
  return missing > 0 ? `${path}?${'q'.repeat(missing)}` : path;
}

/** Where a redirect leads, when the recording has it; without that it is replayed as an ordinary answer. */
export const redirectTarget = (node: ReplayNode): ReplayNode | null =>
  isRedirect(node.request) ? (node.children.find(({ means }) => means === 'redirect') ?? null) : null;

const isRedirect = ({ status }: RecordedRequest): boolean => [301, 302, 303, 307, 308].includes(status);

/** Links the redirects of the navigation. @returns the document they lead to. */
function followRedirects(nodes: ReplayNode[], entry: ReplayNode): ReplayNode {
  let at = entry;
  while (isRedirect(at.request)) {
    const next = nodes.find(
      ({ request }) => request.initiator.kind === 'redirect' && request.initiator.requestId === at.request.id,
    );
    if (next === undefined || next.parent !== null || next === entry) break;
    attach(next, at, 'redirect');
    next.type = 'document';
    at = next;
  }
  at.type = 'document';
  return at;
}

function attach(child: ReplayNode, parent: ReplayNode, means: Means): void {
  child.parent = parent;
  child.means = means;
  parent.children.push(child);
}

const isMarkup = ({ type }: ReplayNode): boolean => type === 'document' || type === 'iframe';

const responseStart = ({ request }: ReplayNode): number => request.phases.responseStartMs ?? request.startMs;

/** Finds parents. A parent always stands before its child in the recording, so there are no cycles. */
class Linker {
  readonly #recording: Recording;
  readonly #page: ReplayNode;
  readonly #byId: Map<number, ReplayNode>;
  readonly #byUrl: Map<string, ReplayNode>;
  /** In order of arrival. */
  readonly #scripts: ReplayNode[];
  readonly #styles: ReplayNode[];
  /** By document: when its parser is known to have been at work last. */
  readonly #parsedUntil = new Map<ReplayNode, number>();

  constructor(recording: Recording, nodes: ReplayNode[], page: ReplayNode) {
    this.#recording = recording;
    this.#page = page;
    this.#byId = new Map(nodes.map((node) => [node.request.id, node]));
    this.#byUrl = new Map(nodes.toReversed().map((node) => [node.request.url, node]));
    const arrived = nodes
      .filter(({ request }) => !isRedirect(request))
      .sort((a, b) => a.request.endMs - b.request.endMs);
    this.#scripts = arrived.filter(({ type }) => type === 'script');
    this.#styles = arrived.filter(({ type }) => type === 'style');
  }

  link(node: ReplayNode): void {
    const { kind } = node.request.initiator;
    // A second document is a frame.
    if (node.type === 'document') node.type = 'iframe';
    const parent = this.#asker(node);
    if (
      kind === 'redirect' &&
      isRedirect(parent.request) &&
      !parent.children.some(({ means }) => means === 'redirect')
    ) {
      node.type = parent.type;
      attach(node, parent, 'redirect');
      return;
    }
    if (parent.type === 'style' && this.#byStyle(node, parent)) return;
    const able = this.#able(parent);
    if (node.afterLoad && !able.afterLoad) {
      // A frame does not see the page's load event.
      attach(node, this.#frameOf(able) === this.#page ? able : this.#page, 'script');
    } else if (!isMarkup(able)) {
      attach(node, able, 'script');
    } else {
      this.#byDocument(node, able);
    }
  }

  /** The kept request that asked for it; the page's document where nobody is known. */
  #asker(node: ReplayNode): ReplayNode {
    let id = node.request.initiator.requestId;
    for (let hops = 0; id !== null && hops < 20; hops++) {
      const request = this.#recording.requests[id];
      if (request === undefined) break;
      const asker = this.#byId.get(id) ?? this.#byUrl.get(request.url);
      if (asker !== undefined && asker.request.id < node.request.id) return asker;
      id = request.initiator.requestId;
    }
    return this.#page;
  }

  #byStyle(node: ReplayNode, parent: ReplayNode): boolean {
    const possible = node.type === 'style' || node.type === 'font' || node.type === 'image';
    if (!possible || (node.afterLoad && !parent.afterLoad)) return false;
    attach(node, parent, 'style');
    return true;
  }

  /** The nearest ancestor that can make requests by script or markup. */
  #able(node: ReplayNode): ReplayNode {
    let at = node;
    while ((at.type !== 'script' && !isMarkup(at)) || isRedirect(at.request)) {
      // Where a redirect leads is what runs.
      const target = at.children.find(({ means }) => means === 'redirect');
      if (isRedirect(at.request) && target !== undefined && (target.type === 'script' || isMarkup(target)))
        return target;
      if (at.parent === null) return this.#page;
      at = at.parent;
    }
    return at;
  }

  #frameOf(node: ReplayNode): ReplayNode {
    let at = node;
    while (!isMarkup(at) && at.parent !== null) at = at.parent;
    return at;
  }

  #byDocument(node: ReplayNode, document: ReplayNode): void {
    const { kind } = node.request.initiator;
    const { startMs } = node.request;
    const begin = responseStart(document);
    const end = document.request.endMs;
    const style =
      node.type === 'font' && kind !== 'script' && kind !== 'preload'
        ? this.#lastBefore(this.#styles, node, document)
        : undefined;
    if (style !== undefined && this.#byStyle(node, style)) return;
    const late = kind !== 'script' && this.#isLate(startMs, document);
    if (late) {
      // Of images set by script, recorders say that the parser found them.
      const script = this.#lastBefore(this.#scripts, node, document);
      attach(node, script ?? document, 'script');
      return;
    }
    node.place = end <= begin ? 1 : Math.min(1, Math.max(0, (startMs - begin) / (end - begin)));
    if (kind === 'script') attach(node, document, 'script');
    else if (kind === 'style' && (node.type === 'image' || node.type === 'font'))
      attach(node, document, 'style');
    else attach(node, document, kind === 'preload' && isPreloadable(node.type) ? 'preload' : 'markup');
  }

  /** The last of `candidates` in the document's frame to arrive before `node` began. */
  #lastBefore(candidates: ReplayNode[], node: ReplayNode, document: ReplayNode): ReplayNode | undefined {
    return candidates.findLast(
      (candidate) =>
        candidate.request.endMs <= node.request.startMs &&
        candidate.parent !== null &&
        this.#frameOf(candidate) === document &&
        (!candidate.afterLoad || node.afterLoad),
    );
  }

  #isLate(startMs: number, document: ReplayNode): boolean {
    const known = this.#parsedUntil.get(document);
    // The parser may be late to begin.
    if (known !== undefined && startMs > Math.max(known, document.request.endMs) + PARSER_PAUSE_MS)
      return true;
    this.#parsedUntil.set(document, startMs);
    return false;
  }
}

const isPreloadable = (type: ResourceType): boolean =>
  ['style', 'script', 'image', 'font', 'fetch'].includes(type);

/**
 * A script in markup holds up the parser when the recording says that it blocks, or when what it asked for came
 * only after all that would have held it up, had it been so.
 */
function decideBlocking(document: ReplayNode): void {
  if (!isMarkup(document)) return;
  let ready = 0;
  for (const node of inMarkup(document)) {
    const { request } = node;
    if (node.type === 'style' && request.renderBlocking !== false) ready = Math.max(ready, request.endMs);
    if (node.type !== 'script' || request.renderBlocking === false) continue;
    const runs = Math.max(ready, request.endMs);
    const first = Math.min(...node.children.map((child) => child.request.startMs));
    if (request.renderBlocking !== true && first < runs) continue;
    node.blocksParser = true;
    ready = runs;
  }
}

export const inMarkup = (document: ReplayNode): ReplayNode[] =>
  document.children
    .filter(({ means }) => means !== 'style' && means !== 'redirect')
    .sort((a, b) => a.place - b.place || a.order - b.order);

/** Whether scripts behind it in the markup wait for it. */
const holdsUpScripts = (node: ReplayNode): boolean =>
  node.blocksParser ||
  (node.means === 'markup' && node.type === 'style' && node.request.renderBlocking !== false);

/** An inline script that made a request stands before whatever came only after that request and would have held it up. */
function placeInlineScript(node: ReplayNode): void {
  if (node.means !== 'script' || node.afterLoad || node.parent === null || !isMarkup(node.parent)) return;
  const blocker = inMarkup(node.parent).find(
    (other) => holdsUpScripts(other) && other.request.endMs > node.request.startMs,
  );
  if (blocker === undefined || blocker.place > node.place) return;
  node.place = blocker.place;
  node.order = Math.min(node.order, blocker.order - 0.5);
}

/** When all that stands before `node` in the markup and holds up scripts had arrived. */
function heldUpUntil(node: ReplayNode): number {
  if (node.parent === null) return 0;
  const siblings = inMarkup(node.parent);
  const before = siblings.slice(0, siblings.indexOf(node)).filter(holdsUpScripts);
  return Math.max(0, ...before.map(({ request }) => request.endMs));
}

/** Divides the gaps between a script's arrival and its requests into work and waiting. */
function scheduleScripts(nodes: ReplayNode[], pltMs: number | null): void {
  // One main thread: no two scripts work at the same time.
  let busyUntil = 0;
  const runners = nodes.filter((node) => node.children.some(({ means }) => means === 'script'));
  const runsAt = new Map(runners.map((node) => [node, runTime(node)]));
  for (const node of runners.toSorted((a, b) => (runsAt.get(a) as number) - (runsAt.get(b) as number))) {
    const runs = runsAt.get(node) as number;
    const made = node.children
      .filter(({ means }) => means === 'script')
      .sort((a, b) => a.request.startMs - b.request.startMs);
    const before = made.filter(({ afterLoad }) => !afterLoad || node.afterLoad);
    const first = before[0]?.request.startMs ?? runs;
    if (!isMarkup(node)) {
      const from = Math.max(runs, busyUntil);
      node.busyMs = Math.max(0, Math.min(first - from, MAX_BUSY_MS));
      busyUntil = Math.max(busyUntil, from + node.busyMs);
    }
    for (const child of made) {
      const { startMs } = child.request;
      if (child.afterLoad && !node.afterLoad) {
        child.delayMs = clampDelay(startMs - (pltMs ?? startMs));
        continue;
      }
      const done = isMarkup(node)
        ? Math.max(whenParsed(child, node), heldUpUntil(child))
        : runs + node.busyMs;
      child.delayMs = clampDelay(startMs - done);
      const sibling = made
        .filter(
          (other) =>
            other !== child &&
            other.request.endMs <= startMs &&
            startMs - other.request.endMs <= CHAINED_WITHIN_MS &&
            other.type !== 'beacon' &&
            !other.afterLoad,
        )
        .sort((a, b) => a.request.endMs - b.request.endMs)
        .at(-1);
      if (sibling !== undefined && child.delayMs > CHAINED_WITHIN_MS && chainLength(sibling) < MAX_CHAIN) {
        child.after = sibling;
        child.delayMs = clampDelay(startMs - sibling.request.endMs);
      }
    }
  }
}

function chainLength(node: ReplayNode): number {
  let length = 1;
  for (let at = node.after; at !== null; at = at.after) length++;
  return length;
}

/** When the place of `child` in the markup of `document` had arrived. */
function whenParsed(child: ReplayNode, document: ReplayNode): number {
  const begin = responseStart(document);
  return begin + child.place * (document.request.endMs - begin);
}

const clampDelay = (delayMs: number): number => Math.round(Math.min(MAX_DELAY_MS, Math.max(0, delayMs)));

/** When it had arrived and nothing before it in the markup held it up any more. */
function runTime(node: ReplayNode): number {
  if (isMarkup(node)) return responseStart(node);
  return node.blocksParser ? Math.max(node.request.endMs, heldUpUntil(node)) : node.request.endMs;
}
