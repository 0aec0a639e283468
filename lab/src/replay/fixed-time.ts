import { isMarkup, type ReplayNode } from './node.ts';

/**
 * Milliseconds that the longest way to the load event takes with every transfer in no time: work, waits and servers.
 * Pages where it is most of the load time tell protocols apart badly.
 */
export function fixedTime(nodes: ReplayNode[]): number {
  const ends = new Map<ReplayNode, number>();
  let longest = 0;
  // Who is waited for stands before who waits.
  for (const node of nodes) {
    if (node.afterLoad) continue;
    const end = begin(node, ends) + node.thinkMs;
    ends.set(node, end);
    longest = Math.max(longest, end);
  }
  return longest;
}

function begin(node: ReplayNode, ends: Map<ReplayNode, number>): number {
  const { parent, after } = node;
  if (parent === null) return 0;
  const parentEnd = ends.get(parent) ?? 0;
  if (node.means !== 'script') return parentEnd;
  if (after !== null) return Math.max(parentEnd, ends.get(after) ?? 0) + node.delayMs;
  return parentEnd + (isMarkup(parent) ? 0 : parent.busyMs) + node.delayMs;
}
