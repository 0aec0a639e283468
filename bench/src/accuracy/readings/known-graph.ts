/** The known-graph oracle: what a recording is read as, beside what is true of the page. */
import type { KnownPage, KnownRequest } from '@hopwise/lab/gauntlet/known-pages';
import { type Activity, type PageGraph, type Recording, readPage } from '@hopwise/pageload-emulator';

/** Counts of one recording. */
export interface GraphScore {
  /** Requests of the graph whose true parent is known, and those that depend on it, by how the parent leads to them. */
  parents: Record<KnownMeans, { requests: number; found: number }>;
  /** Dependencies of requests and of runs of scripts, and those that are true. Ancestors of the parent add nothing and are not counted. */
  dependencies: { stated: number; right: number };
  /** Server times that are within 20% or 10 ms of the true ones. */
  thinkTimes: { stated: number; right: number };
  /** Additional round trips of origins, likewise; the document's origin is left out. */
  extraRtts: { stated: number; right: number };
}

export type KnownMeans = Exclude<KnownRequest['means'], 'navigation'>;
export const KNOWN_MEANS: readonly KnownMeans[] = ['markup', 'style', 'script', 'answer'];

const CLOSE_SHARE = 0.2;
const CLOSE_MS = 10;

/** @throws InputError for a recording that is not in order */
export function scoreGraph(recording: Recording, known: KnownPage): GraphScore {
  const {
    graph,
    network: { servers },
  } = readPage(recording);
  const truth = new Map(known.requests.map((request) => [request.url, request]));
  const score: GraphScore = {
    parents: {
      markup: { requests: 0, found: 0 },
      style: { requests: 0, found: 0 },
      script: { requests: 0, found: 0 },
      answer: { requests: 0, found: 0 },
    },
    dependencies: { stated: 0, right: 0 },
    thinkTimes: { stated: 0, right: 0 },
    extraRtts: { stated: 0, right: 0 },
  };
  const usualThinkMs = new Map(servers.map(({ origin, thinkMs }) => [origin, thinkMs]));
  const urlOf = ({ requestId }: Activity): string => recording.requests[requestId]!.url;
  for (const activity of graph.activities) {
    const url = urlOf(activity);
    const own = activity.kind === 'fetch' ? truth.get(url) : runOf(url, known);
    if (own === undefined) continue;
    if (activity.kind === 'fetch') {
      const thinkMs = activity.thinkMs ?? usualThinkMs.get(graph.origins[activity.origin]!) ?? 0;
      note(score.thinkTimes, isClose(thinkMs, own.thinkMs));
    }
    if (own.parent === null || own.means === 'navigation') continue;
    const waitsFor = activity.after.map(({ activity: id }) => graph.activities[id]!);
    if (activity.kind === 'fetch') {
      const parents = score.parents[own.means];
      parents.requests++;
      if (waitsFor.some((other) => leadsFrom(own.parent as string, other, graph, urlOf))) parents.found++;
    }
    const implied = ancestorsOf(own, truth);
    for (const stated of new Set(waitsFor.map(urlOf))) {
      const isRight = stated === own.parent || own.blockers.includes(stated);
      if (isRight || !implied.has(stated)) note(score.dependencies, isRight);
    }
  }
  const [document] = known.requests;
  for (const { origin, extraRttMs } of servers) {
    const own = known.origins.find((server) => server.origin === origin);
    if (own === undefined || document?.url.startsWith(`${origin}/`)) continue;
    note(score.extraRtts, isClose(extraRttMs, own.extraRttMs));
  }
  return score;
}

/** The run of a script, as the requests that it makes wait for it; undefined where it makes none. */
function runOf(url: string, known: KnownPage): KnownRequest | undefined {
  return known.requests.find(({ parent, means }) => parent === url && means === 'script');
}

/** Whether an activity is of the response from `url`, or work on the main thread that waits for it. */
function leadsFrom(
  url: string,
  activity: Activity,
  graph: PageGraph,
  urlOf: (activity: Activity) => string,
): boolean {
  if (urlOf(activity) === url) return true;
  return (
    activity.kind === 'compute' &&
    activity.after.some(({ activity: id }) => leadsFrom(url, graph.activities[id]!, graph, urlOf))
  );
}

/** URLs of the parent and of all that must have happened before it. */
function ancestorsOf(request: KnownRequest, truth: ReadonlyMap<string, KnownRequest>): Set<string> {
  const found = new Set<string>();
  const add = (url: string | null): void => {
    if (url === null || found.has(url)) return;
    found.add(url);
    const own = truth.get(url);
    if (own === undefined) return;
    add(own.parent);
    for (const blocker of own.blockers) add(blocker);
  };
  add(request.parent);
  return found;
}

const isClose = (statedMs: number, trueMs: number): boolean =>
  Math.abs(statedMs - trueMs) <= Math.max(CLOSE_MS, CLOSE_SHARE * trueMs);

function note(counts: { stated: number; right: number }, isRight: boolean): void {
  counts.stated++;
  if (isRight) counts.right++;
}
