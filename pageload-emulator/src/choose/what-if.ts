import type { PageGraph } from '../graph/page-graph.ts';
import type { WhatIf, WhatIfTime } from '../prediction.ts';
import { changeInWords, changeServers, type ServerChange } from '../server-change.ts';
import { median } from '../statistics.ts';
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
  const changed = scenarios.map((scenario) => ({
    ...scenario,
    servers: changeServers(scenario.servers, change, scenario.path),
  }));
  const protocols: Partial<Record<UniformRun['protocol'], WhatIfTime>> = {};
  for (const { protocol, pltMs } of runs) {
    const assignment = uniformAssignment(graph, protocol);
    const times = changed.map((scenario) => loadPage(graph, scenario, assignment).pltMs);
    protocols[protocol] = {
      ...loadTime(times),
      change: median(times.map((time, index) => time / pltMs[index]!)) - 1,
    };
  }
  return { change: changeInWords(change), protocols };
}
