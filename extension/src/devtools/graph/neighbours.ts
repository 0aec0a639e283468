import type { GraphLayout } from '../emulation/graph-layout.ts';

/**
 * The node that a key leads to: left to what the node waits for, right to what waits for it, up and down to the nearest one in its
 * column, Home and End to the first and the last.
 *
 * @returns null for other keys and where there is none
 */
export function neighbourOf({ nodes, edges }: GraphLayout, node: number, key: string): number | null {
  const own = nodes[node]!;
  const distance = (other: number) => Math.abs(nodes[other]!.y - own.y);
  const nearest = (candidates: readonly number[]) =>
    candidates.toSorted((a, b) => distance(a) - distance(b))[0] ?? null;
  const inColumn = (isWanted: (y: number) => boolean) =>
    [...nodes.keys()].filter((other) => nodes[other]!.x === own.x && isWanted(nodes[other]!.y));
  switch (key) {
    case 'ArrowLeft':
      return nearest(edges.filter(({ to }) => to === node).map(({ from }) => from));
    case 'ArrowRight':
      return nearest(edges.filter(({ from }) => from === node).map(({ to }) => to));
    case 'ArrowUp':
      return nearest(inColumn((y) => y < own.y));
    case 'ArrowDown':
      return nearest(inColumn((y) => y > own.y));
    case 'Home':
      return 0;
    case 'End':
      return nodes.length - 1;
    default:
      return null;
  }
}
