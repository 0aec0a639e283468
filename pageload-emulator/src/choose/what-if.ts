import { median, type WhatIfTime } from '@hopwise/contract';
import type { PageGraph } from '../graph/page-graph.ts';
import { changeServers, type ServerChange } from '../network/server-change.ts';
import { EventBudget } from '../scenarios/event-budget.ts';
import { loadPage } from '../scenarios/load-page.ts';
import { loadTime } from '../scenarios/load-time.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import { type UniformRun, uniformAssignment } from '../scenarios/uniform.ts';

/** Emulates the same scenarios with changed servers and compares the load times with those of `runs`. */
export function askWhatIf(
  graph: PageGraph,
  runs: readonly UniformRun[],
  scenarios: readonly Scenario[],
  change: ServerChange,
): Partial<Record<UniformRun['protocol'], WhatIfTime>> {
  const budget = new EventBudget();
  const changedMs = runs.map((): number[] => []);
  for (const [index, scenario] of scenarios.entries()) {
    if (index > 0 && budget.isSpent('scenarios')) break;
    const changed = { ...scenario, servers: changeServers(scenario.servers, change, scenario.path) };
    for (const [at, { protocol }] of runs.entries()) {
      const { pltMs } = loadPage(graph, changed, uniformAssignment(graph, protocol), { budget });
      changedMs[at]!.push(pltMs);
    }
  }
  const protocols: Partial<Record<UniformRun['protocol'], WhatIfTime>> = {};
  for (const [at, { protocol, pltMs }] of runs.entries()) {
    const times = changedMs[at]!;
    protocols[protocol] = {
      ...loadTime(times),
      change: median(times.map((time, index) => time / pltMs[index]!)) - 1,
    };
  }
  return protocols;
}
