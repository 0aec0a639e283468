import type { ServerProfile } from '@hopwise/contract';
import { type Assignment, PROTOCOLS, type Protocol } from '@hopwise/contract';
import type { PageGraph } from '../graph/page-graph.ts';

/** Protocols that each origin may be given. */
export type Choices = ReadonlyMap<string, readonly Protocol[]>;

/** What each origin offers, without those that this network cannot carry. */
export function choicesOf(
  graph: PageGraph,
  servers: readonly ServerProfile[],
  usable: readonly Protocol[],
): Choices {
  const offers = new Map(servers.map((server) => [server.origin, server.offers]));
  return new Map(
    graph.origins.map((origin) => {
      const choices = PROTOCOLS.filter((protocol) => {
        const offered = offers.get(origin)?.[protocol] ?? protocol !== 'h3';
        return offered && usable.includes(protocol);
      });
      return [origin, choices.length > 0 ? choices : (['h1'] as const)];
    }),
  );
}

/** Every origin on `protocol`, or on the next older one that it offers. */
export function nearestUniform(choices: Choices, protocol: Protocol): Assignment {
  const wanted = PROTOCOLS.indexOf(protocol);
  const assignment: Assignment = {};
  for (const [origin, offered] of choices) {
    const older = offered.filter((candidate) => PROTOCOLS.indexOf(candidate) <= wanted);
    assignment[origin] = older[older.length - 1] ?? offered[0]!;
  }
  return assignment;
}
