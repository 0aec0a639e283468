import type { NetworkPath, ServerProfile } from '@hopwise/contract';
import type { PageGraph } from '../graph/page-graph.ts';
import type { PaintModel } from '../graph/paint-times.ts';
import type { Scenario } from './scenario.ts';

/** A page on a network whose protocols are to be compared. */
export interface Question {
  graph: PageGraph;
  paint: PaintModel;
  /** The likeliest network and servers. */
  path: NetworkPath;
  servers: readonly ServerProfile[];
  /** The first `count` scenarios; fewer where there are no more. */
  scenarios: (count: number) => readonly Scenario[];
  /** How many to use; as many as the answer needs when absent. */
  seeds?: number;
  /** Whether to search longer for the best assignment of many origins. Default false. */
  thorough?: boolean;
}
