import { Graph, layout } from '@dagrejs/dagre';
import type { RequestEdge, RequestGraph, RequestNode } from './dependency-graph.ts';
import { NODE_HEIGHT, NODE_WIDTH } from './node-size.ts';

export interface PlacedNode extends RequestNode {
  /** Top left corner, CSS pixels. */
  x: number;
  y: number;
}

export interface PlacedEdge extends RequestEdge {
  points: { x: number; y: number }[];
}

/** A graph with places, CSS pixels from its top left corner. */
export interface GraphLayout {
  nodes: PlacedNode[];
  edges: PlacedEdge[];
  width: number;
  height: number;
}

const MARGIN = 12;
/** Between nodes side by side, and between a node and those that wait for it. */
const NODE_GAP = 8;
const RANK_GAP = 44;

/** Places what waits to the right of what it waits for: dagre's layered layout (github.com/dagrejs/dagre). */
export function layOutGraph({ nodes, edges }: RequestGraph): GraphLayout {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: NODE_GAP, ranksep: RANK_GAP, marginx: MARGIN, marginy: MARGIN });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const index of nodes.keys()) graph.setNode(String(index), { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const { from, to } of edges) graph.setEdge(String(from), String(to));
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    nodes: nodes.map((node, index) => {
      const { x, y } = graph.node(String(index));
      return { ...node, x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 };
    }),
    edges: edges.map((edge) => ({
      ...edge,
      points: graph.edge(String(edge.from), String(edge.to)).points ?? [],
    })),
    width,
    height,
  };
}
