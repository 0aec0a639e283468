import {
  type Assignment,
  emulate,
  type NetworkPath,
  type PageGraph,
  type Recording,
  type ServerProfile,
} from '@hopwise/pageload-emulator';

/** Requests longer than this count, milliseconds. */
const NOTABLE_MS = 50;
/** A request that is expected to take this many times as long as it was recorded was misread. */
const TRIPLED = 3;

/** The largest of the requests' emulated times over the recorded one; 0 where none takes long. */
export function longestRequest(
  { requests }: Recording,
  graph: PageGraph,
  path: NetworkPath,
  servers: readonly ServerProfile[],
  assignment: Assignment,
): number {
  const { entries } = emulate(graph, path, servers, assignment, { seed: 1, waterfall: true });
  const ratios = entries.flatMap(({ requestId, startMs, endMs }) => {
    const own = requests[requestId]!;
    const lengthMs = own.endMs - own.startMs;
    return endMs - startMs > NOTABLE_MS ? (endMs - startMs) / Math.max(1, lengthMs) : [];
  });
  return Math.max(0, ...ratios);
}

export const isTripled = (longest: number): boolean => longest > TRIPLED;
