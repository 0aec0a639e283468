import type { ServerProfile } from '@hopwise/contract';
import { type Assignment, PROTOCOLS, type Protocol } from '@hopwise/contract';
import type { PageGraph } from '../graph/page-graph.ts';

/** Protocols that may be assigned to each origin. */
export type Choices = ReadonlyMap<string, readonly Protocol[]>;

/** Returns the protocols that each origin offers and the network carries; h1 when that is none. */
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

/** Assigns `protocol` to every origin, or the next older protocol that the origin offers. */
export function nearestUniform(choices: Choices, protocol: Protocol): Assignment {
  const wanted = PROTOCOLS.indexOf(protocol);
  const assignment: Assignment = {};
  for (const [origin, offered] of choices) {
    const older = offered.filter((candidate) => PROTOCOLS.indexOf(candidate) <= wanted);
    assignment[origin] = older[older.length - 1] ?? offered[0]!;
  }
  return assignment;
}
