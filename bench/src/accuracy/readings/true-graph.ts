/** Loads emulated from what is true of a page: what remains is the error of the emulator, not of reading recordings. */
import { median } from '@hopwise/contract';
import type { KnownPage, KnownRequest } from '@hopwise/lab/gauntlet/known-pages';
import {
  type Activity,
  type Assignment,
  buildGraph,
  type ClientCosts,
  type Dependency,
  emulate,
  estimateNetwork,
  type FetchActivity,
  type NetworkPath,
  type PageGraph,
  type Protocol,
  type Recording,
  type ServerProfile,
} from '@hopwise/pageload-emulator';

/** Seeds of random losses. */
const SEEDS = Array.from({ length: 8 }, (_, index) => index + 1);

/**
 * Main-thread time of Chromium's requests, responses and scripts, milliseconds, multiplied by the processor's slowdown. These
 * values have the lowest median error of PLT (3.6%) on loads of the gauntlet's training cells without losses or slowdown, among
 * issueMs 1 or 2, handleMs 1 to 3, runMs 3 or 6.
 */
const MAIN_THREAD = { issueMs: 1, handleMs: 3, runMs: 6 };

/** Median PLT under one protocol for all origins, milliseconds. */
export function emulateTrue({ graph, servers }: TruePage, path: NetworkPath, protocol: Protocol): number {
  const assignment: Assignment = Object.fromEntries(graph.origins.map((origin) => [origin, protocol]));
  return median(SEEDS.map((seed) => emulate(graph, path, servers, assignment, { seed }).pltMs));
}

export interface TruePage {
  graph: PageGraph;
  servers: ServerProfile[];
}

/**
 * The graph of a recording with the true causes, delays, main-thread and server times, and servers with their true distance,
 * initial window, congestion control and treatment of priorities. Sizes, priorities and the places in the markup are the recording's;
 * the browser's own main-thread time is assumed, see `MAIN_THREAD`.
 */
export function truePage(recording: Recording, known: KnownPage): TruePage {
  const read = buildGraph(recording);
  return {
    graph: {
      ...read,
      ...new TrueGraph(read, known).activities(),
      ...(read.client && { client: withMainThread(read.client, known.cpuSlowdown) }),
    },
    servers: estimateNetwork(recording).servers.map((server) => withTruth(server, known)),
  };
}

function withMainThread(costs: ClientCosts, cpuSlowdown: number): ClientCosts {
  const { issueMs, handleMs, runMs } = MAIN_THREAD;
  return {
    ...costs,
    issueMs: issueMs * cpuSlowdown,
    handleMs: handleMs * cpuSlowdown,
    runMs: runMs * cpuSlowdown,
  };
}

function withTruth(server: ServerProfile, { origins }: KnownPage): ServerProfile {
  const own = origins.find(({ origin }) => origin === server.origin);
  if (own === undefined) return server;
  const { initialWindow = 10, congestionControl = 'cubic', priorities, extraRttMs, altSvc = true } = own;
  return {
    ...server,
    extraRttMs,
    thinkMs: 0,
    tcp: { initialWindow, congestionControl: congestionControl === 'bbr' ? 'bbr' : 'cubic' },
    prioritises: priorities === 'honoured',
    announcesH3: altSvc,
  };
}

class TrueGraph {
  readonly #read: PageGraph;
  readonly #truth: ReadonlyMap<string, KnownRequest>;
  readonly #fetches: ReadonlyMap<string, FetchActivity>;
  readonly #activities: Activity[] = [];
  /** By URL. */
  readonly #fetchIds = new Map<string, number>();
  readonly #runIds = new Map<string, number>();

  constructor(read: PageGraph, known: KnownPage) {
    this.#read = read;
    this.#truth = new Map(known.requests.map((request) => [request.url, request]));
    this.#fetches = new Map(
      read.activities.flatMap((activity) => (activity.kind === 'fetch' ? [[activity.url, activity]] : [])),
    );
  }

  activities(): Pick<PageGraph, 'activities' | 'head'> {
    for (const url of this.#fetches.keys()) this.#fetch(url);
    for (const { url, type, busyMs } of this.#truth.values())
      if (type === 'script' && busyMs > 0 && this.#fetches.has(url)) this.#run(url);
    const head = this.#head();
    return { activities: this.#activities, ...(head === undefined ? {} : { head }) };
  }

  /** Adds the request after all that it waits for. @returns undefined where the load lacks it */
  #fetch(url: string): number | undefined {
    const present = this.#fetchIds.get(url);
    if (present !== undefined) return present;
    const read = this.#fetches.get(url);
    if (read === undefined) return undefined;
    const own = this.#truth.get(url);
    const after = own === undefined ? [] : this.#dependencies(own, read);
    const id = this.#activities.length;
    this.#activities.push({
      ...read,
      id,
      after,
      delayMs: own?.delayMs ?? 0,
      thinkMs: own?.thinkMs ?? read.thinkMs ?? 0,
    });
    this.#fetchIds.set(url, id);
    return id;
  }

  /** The run of a script. */
  #run(url: string): number | undefined {
    const present = this.#runIds.get(url);
    if (present !== undefined) return present;
    const script = this.#fetch(url);
    if (script === undefined) return undefined;
    const { requestId } = this.#activities[script]!;
    const child = [...this.#truth.values()].find(({ parent, means }) => parent === url && means === 'script');
    const after = [
      dependency(script, 'execution'),
      ...(child?.blockers ?? []).flatMap((blocker) => this.#blockedBy(blocker)),
    ];
    const id = this.#activities.length;
    const durationMs = this.#truth.get(url)?.busyMs ?? 0;
    this.#activities.push({ kind: 'compute', id, requestId, durationMs, blocksLoad: true, after });
    this.#runIds.set(url, id);
    return id;
  }

  #dependencies({ parent, means, blockers }: KnownRequest, read: FetchActivity): Dependency[] {
    if (parent === null) return [];
    const waits = blockers.flatMap((blocker) => this.#blockedBy(blocker));
    if (means === 'script') {
      const run = this.#run(parent);
      return run === undefined ? [] : [dependency(run, 'script')];
    }
    const id = this.#fetch(parent);
    if (id === undefined) return [];
    if (means !== 'markup') return [dependency(id, means === 'style' ? 'style' : 'script'), ...waits];
    const place = read.after.find(({ activity }) => {
      const other = this.#read.activities[activity]!;
      return other.kind === 'fetch' && other.url === parent;
    });
    return [dependency(id, 'parser', place?.fraction ?? 1), ...waits];
  }

  #blockedBy(url: string): Dependency[] {
    const id = this.#truth.get(url)?.type === 'script' ? this.#run(url) : this.#fetch(url);
    return id === undefined ? [] : [dependency(id, 'execution')];
  }

  /** The activity that ends the document's head, after what it waits for in the graph that was read. */
  #head(): number | undefined {
    const read = this.#read.head === undefined ? undefined : this.#read.activities[this.#read.head];
    if (read === undefined || read.kind === 'fetch') return undefined;
    const after = read.after.flatMap(({ activity, ...edge }) => {
      const other = this.#read.activities[activity]!;
      const id = other.kind === 'fetch' ? this.#fetch(other.url) : undefined;
      return id === undefined ? [] : [{ ...edge, activity: id }];
    });
    const id = this.#activities.length;
    this.#activities.push({ ...read, id, after });
    return id;
  }
}

const dependency = (activity: number, kind: Dependency['kind'], fraction = 1): Dependency => ({
  activity,
  kind,
  fraction,
  source: 'recorded',
});
