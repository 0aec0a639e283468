/** How far the loads of a cell differ by chance, where each protocol has few of them. */

import { bestOf, mediansAt } from '@hopwise/lab/judge/cell-ground-truth';
import type { CellLoads } from '@hopwise/lab/judge/cell-loads';
import { regretOf } from '@hopwise/lab/judge/regret';
import type { ProtocolMode } from '@hopwise/lab/loads/protocol-args';
import { coefficientOfVariation, meanOrNull } from '@hopwise/lab/statistics';
import { PROTOCOLS } from '@hopwise/pageload-emulator';

/** Mean regret of a choice on single seeds, to compare with `floorOf`; null where the loads cannot judge it. */
export function regretOnOne(
  loads: CellLoads,
  choice: ProtocolMode,
  seeds: readonly number[] = loads.seeds,
): number | null {
  return meanOrNull(seeds.flatMap((seed) => regretOf(loads, choice, [seed]) ?? []));
}

/** Mean regret, on each seed, of an oracle that chose by the loads of the others; null with a single seed. */
export function floorOf(loads: CellLoads): number | null {
  return meanOrNull(
    loads.seeds.flatMap((seed) => {
      const choice = bestOf(
        mediansAt(
          loads,
          loads.seeds.filter((other) => other !== seed),
        ),
      );
      return choice === undefined ? [] : (regretOf(loads, choice, [seed]) ?? []);
    }),
  );
}

/** Coefficient of variation of each forced protocol's load times. */
export function spreadsOf({ pltMs }: CellLoads): number[] {
  return PROTOCOLS.flatMap((protocol) => {
    const times = [...(pltMs.get(protocol)?.values() ?? [])];
    return times.length < 2 ? [] : (coefficientOfVariation(times) ?? []);
  });
}
