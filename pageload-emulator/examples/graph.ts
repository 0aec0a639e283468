import { buildGraph, parseRecording } from '@hopwise/pageload-emulator';

/** The share of dependencies that the recording states; the others are inferred from timings, types and URLs. */
export function recordedShare(har: string): number {
  const edges = buildGraph(parseRecording(har)).activities.flatMap(({ after }) => after);
  return edges.filter(({ source }) => source === 'recorded').length / edges.length;
}
