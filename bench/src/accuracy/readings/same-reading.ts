/** Whether two recordings of one load are read alike. */
import { buildGraph, type Recording } from '@hopwise/pageload-emulator';

/** Dependencies of a recording's graph, each as the URLs of the two responses. */
export function dependenciesOf(recording: Recording): Set<string> {
  const { activities } = buildGraph(recording);
  const nameOf = (id: number) => {
    const activity = activities[id]!;
    return `${activity.kind} ${recording.requests[activity.requestId]!.url}`;
  };
  return new Set(
    activities.flatMap(({ id, after }) => after.map((edge) => `${nameOf(edge.activity)} > ${nameOf(id)}`)),
  );
}

/** Dependencies in both over those in either; 1 without any. */
export function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const either = new Set([...a, ...b]).size;
  return either === 0 ? 1 : [...a].filter((each) => b.has(each)).length / either;
}
