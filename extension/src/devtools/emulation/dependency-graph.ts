import type { Recording, ResourceType } from '@hopwise/contract';
import type { DependencyKind, PageGraph } from '@hopwise/pageload-emulator';

/** A request, or several alike ones that nothing depends on. */
export interface RequestNode {
  /** Numbers of the requests, ascending; the first names the node. */
  requestIds: number[];
  type: ResourceType;
}

/** The later node waits for the earlier one. */
export interface RequestEdge {
  /** Indexes into the nodes. */
  from: number;
  to: number;
  kind: DependencyKind;
  source: 'recorded' | 'inferred';
}

export interface RequestGraph {
  nodes: RequestNode[];
  edges: RequestEdge[];
}

/** Fewer requests that are alike stay apart. */
const MIN_ALIKE = 4;

/**
 * The requests of a page and what each waits for. Work on the main thread belongs to the request whose response is worked on; that
 * one script runs after another is left out unless a critical path goes that way.
 *
 * @param criticalPaths numbers of the requests along critical paths
 * @param groupsAlike whether requests of one type that wait for the same requests, and for which none waits, become one node
 */
export function buildRequestGraph(
  graph: PageGraph,
  recording: Recording,
  criticalPaths: readonly (readonly number[])[],
  groupsAlike: boolean,
): RequestGraph {
  const dependencies = collectDependencies(graph, criticalPaths);
  const fetched = graph.activities.flatMap((each) => (each.kind === 'fetch' ? [each] : []));
  const leaves = groupsAlike ? alikeLeaves(fetched, dependencies, new Set(criticalPaths.flat())) : new Map();
  const nodes: RequestNode[] = [];
  const nodeOf = new Map<number, number>();
  for (const { requestId } of fetched) {
    const group: number[] = leaves.get(requestId) ?? [requestId];
    if (group[0] === requestId) {
      for (const id of group) nodeOf.set(id, nodes.length);
      nodes.push({ requestIds: group, type: recording.requests[requestId]!.type });
    }
  }
  const edges = new Map<string, RequestEdge>();
  for (const { from, to, kind, source } of dependencies) {
    const edge = { from: nodeOf.get(from)!, to: nodeOf.get(to)!, kind, source };
    edges.set(`${edge.from} ${edge.to}`, edge);
  }
  return { nodes, edges: [...edges.values()] };
}

/** Collects edges between the numbers of requests. */
function collectDependencies(
  { activities }: PageGraph,
  criticalPaths: readonly (readonly number[])[],
): RequestEdge[] {
  const critical = new Set(
    criticalPaths.flatMap((path) => path.slice(1).map((id, index) => `${path[index]} ${id}`)),
  );
  return activities.flatMap(({ kind: activityKind, requestId: to, after }) =>
    after.flatMap(({ activity, kind, source }) => {
      const from = activities[activity]!.requestId;
      const isKept = activityKind === 'fetch' || critical.has(`${from} ${to}`);
      return from === to || !isKept ? [] : [{ from, to, kind, source }];
    }),
  );
}

/** Groups of requests for which none waits, by each of their requests. */
function alikeLeaves(
  fetched: readonly { requestId: number; type: ResourceType }[],
  dependencies: readonly RequestEdge[],
  critical: ReadonlySet<number>,
): Map<number, number[]> {
  const parents = new Set(dependencies.map(({ from }) => from));
  const waits = new Map<number, number[]>();
  for (const { from, to } of dependencies) waits.set(to, [...(waits.get(to) ?? []), from]);
  const groups = new Map<string, number[]>();
  for (const { requestId, type } of fetched) {
    if (parents.has(requestId) || critical.has(requestId)) continue;
    const key = `${type} ${[...new Set(waits.get(requestId))].sort((a, b) => a - b)}`;
    const group = groups.get(key);
    if (group) group.push(requestId);
    else groups.set(key, [requestId]);
  }
  const alike = [...groups.values()].filter((group) => group.length >= MIN_ALIKE);
  return new Map(alike.flatMap((group) => group.map((id) => [id, group])));
}
