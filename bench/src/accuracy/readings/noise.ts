/** How far the loads of a cell differ by chance, where each protocol has few of them. */
import type { ProtocolMode } from '@hopwise/lab/loads/protocol-args';
import { coefficientOfVariation } from '@hopwise/lab/statistics';
import { PROTOCOLS } from '@hopwise/pageload-emulator';
import { mean } from 'simple-statistics';
import { bestOf, mediansAt } from '../../judge/cell-ground-truth.ts';
import type { CellLoads } from '../../judge/cell-loads.ts';
import { regretOf } from '../../judge/regret.ts';

/** Mean regret of a choice on single seeds, to compare with `floorOf`; null where the loads cannot judge it. */
export function regretOnOne(
  loads: CellLoads,
  choice: ProtocolMode,
  seeds: readonly number[] = loads.seeds,
): number | null {
  return meanOf(seeds.flatMap((seed) => regretOf(loads, choice, [seed]) ?? []));
}

/** Mean regret, on each seed, of an oracle that chose by the loads of the others; null with a single seed. */
export function floorOf(loads: CellLoads): number | null {
  return meanOf(
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

const meanOf = (values: readonly number[]): number | null => (values.length === 0 ? null : mean([...values]));
