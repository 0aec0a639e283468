import type { MeasuredLoads } from '@hopwise/contract';
import { groupBy } from '@hopwise/contract';
import type { Knowledge } from '@hopwise/pageload-emulator';
import { isSlowed } from '../load/load-quality.ts';
import { factsOf, type KnownLoad } from '../load/load-summary.ts';
import { predictionOf, type StoredLoad } from '../load/stored-load.ts';
import {
  findComparableLoads,
  hasPins,
  hasSamePins,
  keyOfPins,
  pltOf,
  selectSinceChange,
  timeOf,
  visitsUntil,
} from './comparable-loads.ts';
import { listPinnedProtocols } from './pinned-protocols.ts';

/**
 * What stored loads show of a load's page: transfers, load times by the pins that were active, and the earlier decision.
 *
 * @param all stored loads, oldest first
 * @param readLoad reads the whole load by its id
 */
export async function collectKnowledge(
  load: StoredLoad,
  all: readonly KnownLoad[],
  readLoad: (id: number) => Promise<StoredLoad | undefined>,
): Promise<Knowledge> {
  const earlier = findComparableLoads(load, all);
  const readLast = async (isWanted: (each: KnownLoad) => boolean) => {
    const last = earlier.findLast(isWanted);
    return last && readLoad(last.id);
  };
  const visits = visitsUntil(load, all);
  const kind = hasPins(load) ? 'later' : visits.judge(load);
  // What the browser does by itself differs between first visits and later ones.
  const alike = earlier.filter((each) => hasPins(each) || visits.judge(each) === kind);
  const verified = load.verification ? load : await readLast((each) => factsOf(each).isVerified);
  const decided = await readLast((each) => factsOf(each).decision !== null);
  const verification = verified?.verification;
  return {
    ...(verification && { verification }),
    loads: groupByPins(alike, load),
    earlier: (decided && predictionOf(decided)?.decision) ?? null,
    pinned: listPinnedProtocols(load),
  };
}

/** Measured loads by their pins, each since the last change of what the page takes with them. @param last the load after them */
function groupByPins(loads: readonly KnownLoad[], last: KnownLoad): MeasuredLoads[] {
  const groups = groupBy(loads, keyOfPins);
  return [...groups.values()].map((all) => {
    const group = hasSamePins(all[0]!, last)
      ? selectSinceChange([...all, last]).filter((each) => each !== last)
      : selectSinceChange(all);
    const times = group.map(pltOf);
    const usual = group.filter((_, index) => !isSlowed(times[index]!, times.toSpliced(index, 1)));
    const pinned = listPinnedProtocols(group[0]!);
    return {
      under: Object.keys(pinned).length === 0 ? 'browser' : pinned,
      pltMs: usual.map(pltOf),
      ageMs: timeOf(last) - timeOf(usual.at(-1)!),
    };
  });
}
