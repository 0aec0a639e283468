/** Structure replay: which requests of a recording are repeated, by which finder, from which host and when. */
import type { RecordedRequest, Recording, ResourceType } from '@hopwise/pageload-emulator';
import { hostNames } from './hosts.ts';
import { isMarkup, isRedirect, type Means, type ReplayNode, responseStart } from './node.ts';
import { ReplayPaths } from './paths.ts';
import { schedule } from './schedule.ts';
import { serverTimes } from './server-times.ts';

export interface SkippedRequest {
  id: number;
  url: string;
  reason: string;
}

interface ReplayPlan {
  nodes: ReplayNode[];
  entry: ReplayNode;
  /** The document of the navigation, after its redirects. */
  page: ReplayNode;
  origins: { origin: string; extraRttMs: number }[];
  skipped: SkippedRequest[];
}

interface ReplayLimits {
  maxRequests: number;
  maxOrigins: number;
}

/**
 * The parser finds all resources of a document in one go. A request that starts this long after the document and everything
 * found earlier was made by a script, even if the recording says otherwise.
 */
const PARSER_PAUSE_MS = 100;
/** Measured pages have no larger bodies, and text is made in memory. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;
const MAX_PAGE_BYTES = 256 * 1024 * 1024;
/** Assumed header bytes where the recording has one number for headers and body. */
const TYPICAL_HEADER_BYTES = 300;

/** Types that scripts request with fetch() or sendBeacon(). */
const POSTABLE: ReadonlySet<ResourceType> = new Set(['fetch', 'beacon', 'other']);

/**
 * @throws {RangeError} naming the entry or the number, when the recording has nothing to replay or is too large.
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
  checkSizes(kept);
  const hosts = hostNames(kept.map(({ url }) => url));
  const origins = [...new Set(hosts.values())];
  if (origins.length > limits.maxOrigins) {
    throw new RangeError(`requests: expected at most ${limits.maxOrigins} origins, got ${origins.length}`);
  }
  const times = serverTimes(kept);
  const paths = new ReplayPaths();
  const nodes = kept.map((request): ReplayNode => {
    const host = hosts.get(new URL(request.url).origin) as string;
    const origin = `https://${host}`;
    const path = paths.of(request.url, host, request.id);
    return {
      request,
      type: request.type,
      means: 'markup',
      origin,
      path,
      url: origin + path,
      method: request.method === 'POST' && POSTABLE.has(request.type) ? 'POST' : 'GET',
      bytes: bodyBytesOf(request),
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
  for (const node of nodes) {
    // Markup and redirects use GET, beacons always POST.
    if (node.means !== 'script' && (node.type !== 'beacon' || node.means === 'redirect')) node.method = 'GET';
  }
  schedule(nodes, recording.pltMs);
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

function checkSizes(requests: RecordedRequest[]): void {
  let total = 0;
  for (const request of requests) {
    const bytes = bodyBytesOf(request);
    total += bytes;
    if (bytes > MAX_BODY_BYTES) {
      throw new RangeError(
        `request for ${shortened(request.url)}: expected a body of at most ${MAX_BODY_BYTES} bytes, got ${bytes}`,
      );
    }
  }
  if (total > MAX_PAGE_BYTES)
    throw new RangeError(`requests: expected at most ${MAX_PAGE_BYTES} bytes together, got ${total}`);
}

const shortened = (url: string): string => (url.length > 80 ? `${url.slice(0, 79)}…` : url);

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

/** Finds parents. A parent always stands before its child in the recording, so there are no cycles. */
class Linker {
  readonly #recording: Recording;
  readonly #page: ReplayNode;
  readonly #byId: Map<number, ReplayNode>;
  readonly #byUrl: Map<string, ReplayNode>;
  /** In order of arrival. */
  readonly #scripts: ReplayNode[];
  readonly #styles: ReplayNode[];
  /** By document: the last time at which its parser is known to have worked. */
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

  /** The kept request that initiated it; the page's document where the initiator is unknown. */
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
      // A redirect's target is what runs.
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
      // Recorders attribute images set by scripts to the parser.
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

  /** The last of `candidates` in the document's frame to arrive before `node` started. */
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
    // The parser may start late.
    if (known !== undefined && startMs > Math.max(known, document.request.endMs) + PARSER_PAUSE_MS)
      return true;
    this.#parsedUntil.set(document, startMs);
    return false;
  }
}

const isPreloadable = (type: ResourceType): boolean =>
  ['style', 'script', 'image', 'font', 'fetch'].includes(type);
