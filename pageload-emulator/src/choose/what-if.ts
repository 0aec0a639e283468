import type { PageGraph } from '../graph/page-graph.ts';
import type { WhatIf, WhatIfTime } from '../prediction.ts';
import { changeInWords, changeServers, type ServerChange } from '../server-change.ts';
import { median } from '../statistics.ts';
import { EventBudget } from './event-budget.ts';
import { loadPage } from './load-page.ts';
import { loadTime } from './load-time.ts';
import type { Scenario } from './scenario.ts';
import { type UniformRun, uniformAssignment } from './uniform.ts';

/** The load times that the same scenarios have with changed servers, beside those that they had. */
export function askWhatIf(
  graph: PageGraph,
  runs: readonly UniformRun[],
  scenarios: readonly Scenario[],
  change: ServerChange,
): Pick<WhatIf, 'change'> & { protocols: Partial<Record<UniformRun['protocol'], WhatIfTime>> } {
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
  return { change: changeInWords(change), protocols };
}
