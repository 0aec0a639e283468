import { isModule } from '../graph/module-scripts.ts';
import type { Activity, Dependency, FetchActivity, PageGraph } from '../graph/page-graph.ts';
import { atHead, type ServedPage } from './document.ts';

/** A file that only another script or style sheet asks for. */
interface LateResource {
  url: string;
  as: 'script' | 'style';
}

/** Each file competes with what the document itself names. Assumed. */
const MAX_RESOURCES = 8;

/**
 * Scripts and style sheets of the page itself that scripts insert and style sheets import, which the document's head could announce
 * (`rel=preload`); in order of their requests. Modules are left out, which `rel=modulepreload` is for, and so is what goes without
 * credentials: it is only used where the announcement says so too.
 */
export function lateResources({ recording, graph }: ServedPage): LateResource[] {
  const framed = inFrames(graph);
  return graph.activities
    .filter((activity): activity is FetchActivity => {
      if (activity.kind !== 'fetch' || !activity.blocksLoad || framed.has(activity.id)) return false;
      const { type, pool = 0, after, requestId } = activity;
      const request = recording.requests[requestId]!;
      const isLate = after.some(({ kind }) => kind === 'script' || kind === 'style');
      return isLate && pool === 0 && (type === 'style' || (type === 'script' && !isModule(request)));
    })
    .slice(0, MAX_RESOURCES)
    .map(({ url, type }) => ({ url, as: type as LateResource['as'] }));
}

/** Activities of the page's frames, by id. */
function inFrames({ activities }: PageGraph): Set<number> {
  const framed = new Set<number>();
  for (const activity of activities) {
    const isFrame = activity.kind === 'fetch' && activity.type === 'iframe';
    // The first dependency is on what led to it.
    const [cause] = activity.after;
    if (isFrame || (cause !== undefined && framed.has(cause.activity))) framed.add(activity.id);
  }
  return framed;
}

/** Urgency with which Chromium requests what is announced (Blink's `ResourceFetcher`). */
const URGENCY = { style: 0, script: 1 } as const;

/** The page with some files announced in its head. What waits for such a file still waits for what asked for it before. */
export function withPreloads(graph: PageGraph, resources: readonly LateResource[]): PageGraph {
  const as = new Map(resources.map((resource) => [resource.url, resource.as]));
  const { dependency, delayMs } = atHead(graph);
  const askedBy = new Map<number, readonly Dependency[]>();
  const activities = graph.activities.map((activity): Activity => {
    const after = activity.after.flatMap((each) => [each, ...(askedBy.get(each.activity) ?? [])]);
    const type = activity.kind === 'fetch' ? as.get(activity.url) : undefined;
    if (activity.kind !== 'fetch' || type === undefined) return { ...activity, after: distinct(after) };
    askedBy.set(activity.id, after);
    const { hold: _hold, ...announced } = activity;
    return { ...announced, after: [dependency], delayMs, urgency: URGENCY[type] };
  });
  return { ...graph, activities };
}

/** Keeps of several dependencies on one activity that on the most of it. */
function distinct(after: readonly Dependency[]): Dependency[] {
  const found = new Map<number, Dependency>();
  for (const each of after) {
    const known = found.get(each.activity);
    if (known === undefined || known.fraction < each.fraction) found.set(each.activity, each);
  }
  return [...found.values()];
}
