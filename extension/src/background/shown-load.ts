/** Which load of a tab's page popup and panel show: one that does not show how long the page takes never replaces a full one. */
import { findComparableLoads, judgeAmong } from '../evidence/comparable-loads.ts';
import { judgeLoad } from '../load/load-quality.ts';
import type { IncompleteLoad } from '../messages/load-messages.ts';
import { getLoad, getSummaries, type StoredLoad } from '../storage/loads.ts';

interface ShownLoad {
  load: StoredLoad;
  /** What the tab's last load is; null for a full one. */
  incomplete: IncompleteLoad | null;
}

/** The last answer by load and its storing: pages ask every second. */
let last: { key: string; shownId: number; incomplete: IncompleteLoad | null } | null = null;

/** @param load the tab's last load */
export async function selectShownLoad(load: StoredLoad): Promise<ShownLoad> {
  const key = `${load.id} ${load.recording.pltMs}`;
  if (last?.key !== key) last = { key, ...(await judge(load)) };
  const { incomplete, shownId } = last;
  const shown = shownId === load.id ? load : await getLoad(shownId);
  if (shown) return { load: shown, incomplete };
  // It has been removed in the meantime.
  return { load, incomplete: incomplete && { ...incomplete, isReplaced: false } };
}

async function judge(load: StoredLoad): Promise<{ shownId: number; incomplete: IncompleteLoad | null }> {
  const all = await getSummaries();
  const kind = judgeAmong(load, all);
  if (kind === 'full') return { shownId: load.id, incomplete: null };
  const full = findComparableLoads(load, all).at(-1);
  return {
    shownId: full?.id ?? load.id,
    incomplete: { ...judgeLoad(load), kind, isReplaced: full !== undefined },
  };
}
