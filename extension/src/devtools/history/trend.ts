import { beginsNetwork, hasPins } from '../../evidence/comparable-loads.ts';
import { judgeLoad } from '../../load/load-quality.ts';
import type { StoredLoad } from '../../storage/loads.ts';
import { timeMsOf } from './page-history.ts';

/** One load in the trend of a page's load times. */
export interface TrendPoint {
  /** Position, from 0 on; the oldest load is the first. */
  index: number;
  load: StoredLoad;
  pltMs: number;
  isPinned: boolean;
  isFull: boolean;
  /** `A` for the network of the first load, `B` for the next one, …; one that returns keeps its name if the helper knows it. */
  network: string;
}

/** The loads that have a load time, in order of time. @param loads in any order */
export function findTrend(loads: readonly StoredLoad[]): TrendPoint[] {
  const names = new Map<string, string>();
  let changes = 0;
  return loads
    .toSorted((a, b) => timeMsOf(a) - timeMsOf(b) || a.id - b.id)
    .filter(({ recording }) => recording.pltMs !== null)
    .map((load, index) => {
      if (beginsNetwork(load)) changes++;
      const key = load.networkKey ?? `unnamed ${changes}`;
      const network = names.get(key) ?? nameNetwork(names.size);
      names.set(key, network);
      return {
        index,
        load,
        pltMs: load.recording.pltMs ?? 0,
        isPinned: hasPins(load),
        isFull: judgeLoad(load).kind === 'full',
        network,
      };
    });
}

const LETTERS = 26;

/** `A` to `Z`, then `A2`, `B2`, … */
function nameNetwork(index: number): string {
  const letter = String.fromCharCode('A'.charCodeAt(0) + (index % LETTERS));
  return index < LETTERS ? letter : `${letter}${Math.floor(index / LETTERS) + 1}`;
}
