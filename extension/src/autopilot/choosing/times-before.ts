import {
  findComparableLoads,
  hasSamePins,
  pltOf,
  selectSinceChange,
  showsLoadTime,
  visitsUntil,
} from '../../evidence/comparable-loads.ts';
import type { KnownLoad } from '../../load/load-summary.ts';

const MAX_LOADS = 20;

/**
 * Load times of full later visits with the same pins up to a load, since the last change of what the page takes, milliseconds: what loads
 * with more pins are compared with.
 *
 * @param all stored loads, oldest first
 */
export function listTimesBefore(load: KnownLoad, all: readonly KnownLoad[]): number[] {
  const comparable = findComparableLoads(load, all);
  const alike = comparable.filter((each) => hasSamePins(each, load));
  const later = visitsUntil(load, all).selectLater(showsLoadTime(load, all) ? [...alike, load] : alike);
  return selectSinceChange(later).map(pltOf).slice(-MAX_LOADS);
}
