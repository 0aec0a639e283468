import { isMarkup, type ReplayNode } from './node.ts';

/**
 * Length in milliseconds of the critical path to the load event if transfers took no time: work, waits and server times. Pages
 * where it is most of the load time barely distinguish protocols.
 */
export function fixedTime(nodes: ReplayNode[]): number {
  const ends = new Map<ReplayNode, number>();
  let longest = 0;
  // A node precedes those that wait for it.
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
