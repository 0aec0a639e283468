/** The panel's dependency graph. */
import type { Recording, ResourceType } from '@hopwise/contract';
import { buildGraph, explain } from '@hopwise/pageload-emulator';
import { describe, expect, test } from 'vitest';
import { buildRequestGraph, type RequestGraph } from '../../../src/devtools/emulation/dependency-graph.ts';
import {
  type GraphLayout,
  layOutGraph,
  type PlacedNode,
} from '../../../src/devtools/emulation/graph-layout.ts';
import { NODE_HEIGHT, NODE_WIDTH } from '../../../src/devtools/emulation/node-size.ts';
import { neighbourOf } from '../../../src/devtools/graph/neighbours.ts';
import { requestOf } from '../../evidence/stored-loads.ts';
import { largePage } from '../../support/large-page.ts';

/** A document that holds script 1 and style 2; the script asks for images 3 to 7 and script 8, which asks for images 9 and 10. */
const PARENTS = [null, 0, 0, 1, 1, 1, 1, 1, 1, 8, 8];
const TYPES: Partial<Record<number, ResourceType>> = { 0: 'document', 1: 'script', 2: 'style', 8: 'script' };

const page: Recording = {
  ...largePage(2),
  pltMs: 900,
  requests: PARENTS.map((requestId, id) => {
    const depth = requestId === null ? 0 : requestId === 0 ? 1 : requestId === 1 ? 2 : 3;
    const startMs = 200 * depth + id;
    return requestOf(id, {
      type: TYPES[id] ?? 'image',
      startMs,
      endMs: startMs + 150,
      phases: { ...requestOf(0).phases, requestStartMs: startMs, responseStartMs: startMs + 100 },
      initiator: {
        kind: requestId === null ? 'navigation' : requestId === 0 ? 'parser' : 'script',
        requestId,
        source: 'recorded',
      },
    });
  }),
};
const graph = buildGraph(page);
const idsOf = ({ nodes }: RequestGraph) => nodes.map(({ requestIds }) => requestIds);
const edgesOf = ({ nodes, edges }: RequestGraph) =>
  edges.map(({ from, to }) => [nodes[from]!.requestIds[0], nodes[to]!.requestIds[0]]);

describe('buildRequestGraph', () => {
  test('has a node for each request, and an edge from its initiator', () => {
    const built = buildRequestGraph(graph, page, [], false);
    expect(idsOf(built)).toEqual(page.requests.map(({ id }) => [id]));
    const edges = edgesOf(built);
    for (const { id, initiator } of page.requests.slice(1))
      expect(edges).toContainEqual([initiator.requestId, id]);
  });

  test('groups images that wait for the same script, from four on', () => {
    const built = buildRequestGraph(graph, page, [], true);
    expect(idsOf(built)).toEqual([[0], [1], [2], [3, 4, 5, 6, 7], [8], [9], [10]]);
    expect(edgesOf(built).sort()).toEqual([
      [0, 1],
      [0, 2],
      [1, 3],
      [1, 8],
      [8, 10],
      [8, 9],
    ]);
  });

  test('keeps requests of a critical path apart', () => {
    const built = buildRequestGraph(graph, page, [[0, 1, 7]], true);
    expect(idsOf(built)).toEqual([[0], [1], [2], [3, 4, 5, 6], [7], [8], [9], [10]]);
  });

  test('has an edge for each step of a critical path', () => {
    const explained = explain(page);
    const paths = Object.values(explained.protocols).flatMap((own) =>
      'criticalPath' in own ? [[...new Set(own.criticalPath.map(({ requestId }) => requestId))]] : [],
    );
    expect(paths).toHaveLength(3);
    const edges = edgesOf(buildRequestGraph(graph, page, paths, false));
    for (const path of paths) {
      for (const [index, id] of path.slice(1).entries()) expect(edges).toContainEqual([path[index], id]);
    }
  });
});

/** Pairs of nodes that lie over each other. */
function countOverlaps({ nodes }: GraphLayout): number {
  const isOver = (a: PlacedNode, b: PlacedNode) =>
    Math.abs(a.x - b.x) < NODE_WIDTH && Math.abs(a.y - b.y) < NODE_HEIGHT;
  return nodes.reduce(
    (count, a, index) => count + nodes.slice(index + 1).filter((b) => isOver(a, b)).length,
    0,
  );
}

describe('layOutGraph', () => {
  const laidOut = layOutGraph(buildRequestGraph(graph, page, [], false));

  test('places what waits to the right of what it waits for, and no node over another', () => {
    const { nodes, edges, width, height } = laidOut;
    for (const { from, to, points } of edges) {
      expect(nodes[to]!.x).toBeGreaterThan(nodes[from]!.x + NODE_WIDTH);
      expect(points.length).toBeGreaterThan(1);
    }
    for (const { x, y } of nodes) {
      expect(x + NODE_WIDTH).toBeLessThanOrEqual(width);
      expect(y + NODE_HEIGHT).toBeLessThanOrEqual(height);
    }
    expect(countOverlaps(laidOut)).toBe(0);
  });

  test('the arrow keys lead along the edges and within a column', () => {
    const script = laidOut.nodes.findIndex(({ requestIds }) => requestIds[0] === 1);
    expect(neighbourOf(laidOut, script, 'ArrowLeft')).toBe(0);
    const image = neighbourOf(laidOut, script, 'ArrowRight')!;
    expect(neighbourOf(laidOut, image, 'ArrowLeft')).toBe(script);
    const below = neighbourOf(laidOut, image, 'ArrowDown')!;
    expect(neighbourOf(laidOut, below, 'ArrowUp')).toBe(image);
    expect(neighbourOf(laidOut, 0, 'ArrowLeft')).toBeNull();
    expect(neighbourOf(laidOut, 3, 'x')).toBeNull();
  });

  test('a page of 600 requests is laid out within 10 s of processor time, without nodes over each other', () => {
    const large = largePage(600);
    const began = process.cpuUsage();
    const laidOut = layOutGraph(buildRequestGraph(buildGraph(large), large, [], false));
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1e6).toBeLessThan(10);
    expect(laidOut.nodes).toHaveLength(600);
    expect(countOverlaps(laidOut)).toBe(0);
    const grouped = layOutGraph(buildRequestGraph(buildGraph(large), large, [], true));
    expect(grouped.nodes.length).toBeLessThan(120);
    expect(countOverlaps(grouped)).toBe(0);
  });
});
