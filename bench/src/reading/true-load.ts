/** A drawn page as the emulator loads it, with all that is true of it. */
import { median } from '@hopwise/contract';
import { toNetworkPath } from '@hopwise/lab/client/networks';
import type { DrawnCell } from '@hopwise/lab/gauntlet/cells';
import type { DrawnPage, PageNode } from '@hopwise/lab/gauntlet/draw-page';
import { type KnownRequest, knownPage } from '@hopwise/lab/gauntlet/known-pages';
import { SeededRandom } from '@hopwise/lab/random';
import {
  type Activity,
  type Assignment,
  CHROMIUM_COSTS,
  type Dependency,
  defaultPriority,
  emulate,
  type NetworkPath,
  type PageGraph,
  type Protocol,
  type ServerProfile,
} from '@hopwise/pageload-emulator';

/** A page with its servers on a network. */
export interface TrueCell {
  name: string;
  graph: PageGraph;
  servers: ServerProfile[];
  path: NetworkPath;
  /** By URL. */
  known: ReadonlyMap<string, KnownRequest>;
  /** Bytes of the requests' bodies by URL. */
  uploads: ReadonlyMap<string, number>;
}

/** Seeds of random losses over which a protocol's true time is taken. */
const SEEDS = Array.from({ length: 9 }, (_, index) => index + 101);
/** The main thread's time, milliseconds, to be multiplied by the processor's slowdown. */
const MAIN_THREAD = { issueMs: 1, runMs: 6 };
/**
 * Servers of drawn pages send files at once. On every second page some take their time before the first byte, some from the first to
 * the last, log-uniformly between these.
 */
const SLOW_SHARE = 0.06;
const SLOW_MS = [100, 1500] as const;
const SLOW_BODY_MS = [100, 4000] as const;

/** Added to a page's seed for the bodies. */
const SLOW_BODIES = 1_000_003;

const REQUEST_BYTES = 450;
const HEADER_BYTES = 250;

/** Added to a page's seed for the uploads. */
const UPLOADS = 2_000_003;
/** Share of the requests of scripts that have a body, and its bytes, log-uniformly between these. */
const UPLOAD_SHARE = 0.3;
const UPLOAD_BYTES = [5_000, 100_000] as const;

/** What is true of a drawn cell. @param hasUploads whether some requests of scripts have bodies */
export function trueCell({ page, name, network }: DrawnCell, number: number, hasUploads = false): TrueCell {
  const known = new Map(knownPage(page).requests.map((request) => [request.url, request]));
  const isSlow = number % 2 === 1;
  if (isSlow) slowDown(known, number);
  const uploads = hasUploads ? uploadBodies(known, number) : new Map<string, number>();
  return {
    name,
    graph: new TrueGraph(page, known, isSlow ? slowBodies(known, number) : new Map(), uploads).graph(),
    uploads,
    servers: page.origins.flatMap(serverOf),
    path: toNetworkPath(network),
    known,
  };
}

/** Median load time under one protocol for all origins, milliseconds. */
export const trueTime = (cell: TrueCell, protocol: Protocol): number => median(trueTimes(cell, protocol));

/** Times of loads under one protocol for all origins, which differ in their losses, milliseconds. */
export function trueTimes(cell: TrueCell, protocol: Protocol): number[] {
  return trueTimesOf(cell, uniform(cell.graph, protocol));
}

/** Times of loads as an assignment has them, which differ in their losses, milliseconds. */
export function trueTimesOf({ graph, servers, path }: TrueCell, assignment: Assignment): number[] {
  return SEEDS.map((seed) => emulate(graph, path, servers, assignment, { seed }).pltMs);
}

/** Median time of first visits by the browser's own choice, which tries HTTP/3 where a server announces it, milliseconds. */
export function naturalTime(cell: TrueCell): number {
  const servers = cell.servers.map((server) => ({ ...server, h3Discovery: 'alt-svc' as const }));
  return trueTime({ ...cell, servers }, 'h3');
}

export function uniform({ origins }: PageGraph, protocol: Protocol): Assignment {
  return Object.fromEntries(origins.map((origin) => [origin, protocol]));
}

function slowDown(known: Map<string, KnownRequest>, seed: number): void {
  const random = new SeededRandom(seed);
  for (const [url, request] of known) {
    if (request.parent === null || random.fraction() >= SLOW_SHARE) continue;
    known.set(url, { ...request, thinkMs: logUniform(SLOW_MS, random) });
  }
}

/** The times of servers for the bodies of their responses, milliseconds by URL. */
function slowBodies(known: ReadonlyMap<string, KnownRequest>, seed: number): ReadonlyMap<string, number> {
  const random = new SeededRandom(seed + SLOW_BODIES);
  const slow = [...known.keys()].filter(() => random.fraction() < SLOW_SHARE);
  return new Map(slow.map((url) => [url, logUniform(SLOW_BODY_MS, random)]));
}

/** Gives some requests of scripts bodies; a server answers these as a request for data. */
function uploadBodies(known: ReadonlyMap<string, KnownRequest>, seed: number): ReadonlyMap<string, number> {
  const random = new SeededRandom(seed + UPLOADS);
  const byScript = [...known.values()].filter(({ means }) => means === 'script' || means === 'answer');
  const chosen = byScript.filter(() => random.fraction() < UPLOAD_SHARE);
  return new Map(chosen.map(({ url }) => [url, Math.round(logUniform(UPLOAD_BYTES, random))]));
}

function logUniform([low, high]: readonly [number, number], random: SeededRandom): number {
  return low * (high / low) ** random.fraction();
}

function serverOf(own: DrawnPage['origins'][number]): ServerProfile {
  const {
    origin,
    extraRttMs,
    initialWindow = 10,
    congestionControl = 'cubic',
    priorities,
    altSvc = true,
  } = own;
  return {
    origin,
    extraRttMs,
    thinkMs: 0,
    tcp: { initialWindow, congestionControl: congestionControl === 'bbr' ? 'bbr' : 'cubic' },
    quic: { initialWindow: 32, congestionControl: 'reno' },
    tlsVersion: '1.3',
    dnsMs: 0,
    offers: { h1: true, h2: true, h3: true },
    prioritises: priorities === 'honoured',
    announcesH3: altSvc,
  };
}

class TrueGraph {
  readonly #page: DrawnPage;
  readonly #known: ReadonlyMap<string, KnownRequest>;
  readonly #bodyMs: ReadonlyMap<string, number>;
  readonly #uploads: ReadonlyMap<string, number>;
  readonly #nodes: ReadonlyMap<string, PageNode>;
  readonly #activities: Activity[] = [];
  readonly #fetchIds = new Map<string, number>();
  readonly #runIds = new Map<string, number>();
  readonly #origins: string[] = [];

  constructor(
    page: DrawnPage,
    known: ReadonlyMap<string, KnownRequest>,
    bodyMs: ReadonlyMap<string, number>,
    uploads: ReadonlyMap<string, number>,
  ) {
    this.#page = page;
    this.#known = known;
    this.#bodyMs = bodyMs;
    this.#uploads = uploads;
    this.#nodes = new Map(page.nodes.map((node) => [node.url, node]));
  }

  graph(): PageGraph {
    for (const { url } of this.#page.nodes) this.#fetch(url);
    for (const { url, type } of this.#page.nodes) if (type === 'script') this.#run(url);
    const { issueMs, runMs } = MAIN_THREAD;
    const { cpuSlowdown } = this.#page;
    return {
      url: this.#page.nodes[0]!.url,
      origins: this.#origins,
      activities: this.#activities,
      client: {
        ...CHROMIUM_COSTS,
        issueMs: issueMs * cpuSlowdown,
        // Responses are recorded when they have arrived, whether or not the main thread is free to handle them.
        handleMs: 0,
        runMs: runMs * cpuSlowdown,
      },
    };
  }

  #fetch(url: string): number {
    const present = this.#fetchIds.get(url);
    if (present !== undefined) return present;
    const node = this.#nodes.get(url)!;
    const own = this.#known.get(url)!;
    const after = this.#dependencies(own, node);
    const bodyMs = this.#bodyMs.get(url);
    const id = this.#activities.length;
    const type = this.#uploads.has(url) ? 'fetch' : node.type;
    this.#activities.push({
      kind: 'fetch',
      id,
      requestId: id,
      url,
      origin: this.#origin(node.origin),
      type,
      requestBytes: REQUEST_BYTES + (this.#uploads.get(url) ?? 0),
      responseBytes: own.bytes + HEADER_BYTES,
      blocksLoad: true,
      renderBlocking: node.type === 'document' || node.type === 'style',
      ...defaultPriority(type, !(node.means === 'markup' && node.blocksParser)),
      after,
      delayMs: own.delayMs,
      thinkMs: own.thinkMs,
      ...(bodyMs !== undefined && { bodyMs }),
    });
    this.#fetchIds.set(url, id);
    return id;
  }

  #run(url: string): number {
    const present = this.#runIds.get(url);
    if (present !== undefined) return present;
    const script = this.#fetch(url);
    const child = [...this.#known.values()].find(({ parent, means }) => parent === url && means === 'script');
    const after = [edge(script, 'execution'), ...this.#blockedBy(child?.blockers ?? [])];
    const id = this.#activities.length;
    const durationMs = this.#known.get(url)!.busyMs;
    this.#activities.push({ kind: 'compute', id, requestId: script, durationMs, blocksLoad: true, after });
    this.#runIds.set(url, id);
    return id;
  }

  #dependencies({ parent, means, blockers }: KnownRequest, node: PageNode): Dependency[] {
    if (parent === null) return [];
    if (means === 'script') return [edge(this.#run(parent), 'script')];
    const from = this.#fetch(parent);
    const kind = means === 'style' ? 'style' : means === 'answer' ? 'script' : 'parser';
    return [edge(from, kind, means === 'markup' ? node.place : 1), ...this.#blockedBy(blockers)];
  }

  #blockedBy(urls: readonly string[]): Dependency[] {
    return urls.map((url) =>
      edge(this.#known.get(url)!.type === 'script' ? this.#run(url) : this.#fetch(url), 'execution'),
    );
  }

  #origin(origin: string): number {
    const at = this.#origins.indexOf(origin);
    return at >= 0 ? at : this.#origins.push(origin) - 1;
  }
}

const edge = (activity: number, kind: Dependency['kind'], fraction = 1): Dependency => ({
  activity,
  kind,
  fraction,
  source: 'recorded',
});
