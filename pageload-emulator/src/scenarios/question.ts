import type { NetworkPath, ServerProfile } from '@hopwise/contract';
import type { PageGraph } from '../graph/page-graph.ts';
import type { PaintModel } from '../graph/paint-times.ts';
import type { Scenario } from './scenario.ts';

/** A page on a network, for which protocols are to be compared. */
export interface Question {
  graph: PageGraph;
  paint: PaintModel;
  /** The likeliest network and servers. */
  path: NetworkPath;
  servers: readonly ServerProfile[];
  /** Returns the first `count` scenarios, or fewer when there are no more. */
  scenarios: (count: number) => readonly Scenario[];
  /** Number of scenarios; as many as the comparison needs when absent. */
  seeds?: number;
  /** Whether to search longer for the best assignment of many origins. Default false. */
  thorough?: boolean;
}
