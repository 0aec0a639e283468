import type { Decision, MeasuredLoads } from '@hopwise/contract';
import { groupBy } from '@hopwise/contract';
import type { Knowledge } from '@hopwise/pageload-emulator';
import { predictionOf, type StoredLoad } from '../storage/loads.ts';
import { findComparableLoads, hasPins, keyOfPins, pltOf, timeOf, visitsUntil } from './comparable-loads.ts';
import { isSlowed } from './load-quality.ts';
import { listPinnedProtocols } from './pinned-protocols.ts';

/**
 * What stored loads show of a load's page: transfers, load times by the pins that were active, and the earlier decision.
 *
 * @param all stored loads, oldest first
 */
export function collectKnowledge(load: StoredLoad, all: readonly StoredLoad[]): Knowledge {
  const earlier = findComparableLoads(load, all);
  const visits = visitsUntil(load, all);
  const kind = hasPins(load) ? 'later' : visits.judge(load);
  // What the browser does by itself differs between first visits and later ones.
  const alike = earlier.filter((each) => hasPins(each) || visits.judge(each) === kind);
  const verification = load.verification ?? earlier.findLast((each) => each.verification)?.verification;
  return {
    ...(verification && { verification }),
    loads: groupByPins(alike, timeOf(load)),
    earlier: earlier.map(decisionOf).findLast((decision) => decision !== null) ?? null,
    pinned: listPinnedProtocols(load),
  };
}

function groupByPins(loads: readonly StoredLoad[], nowMs: number): MeasuredLoads[] {
  const groups = groupBy(loads, keyOfPins);
  return [...groups.values()].map((group) => {
    const times = group.map(pltOf);
    const usual = group.filter((_, index) => !isSlowed(times[index]!, times.toSpliced(index, 1)));
    const pinned = listPinnedProtocols(group[0]!);
    return {
      under: Object.keys(pinned).length === 0 ? 'browser' : pinned,
      pltMs: usual.map(pltOf),
      ageMs: nowMs - timeOf(usual.at(-1)!),
    };
  });
}

const decisionOf = (load: StoredLoad): Decision | null => predictionOf(load)?.decision ?? null;
