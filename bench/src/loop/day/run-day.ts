/** A day with the extension and without it, all emulated: how many loads are recorded in detail and learned, and what that is good for. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { randomFor } from '@hopwise/lab/gauntlet/splits';
import type { Assignment } from '@hopwise/pageload-emulator';
import { DetailedPages } from '../../../../extension/src/background/detailed-pages.ts';
import { loadNetworkMemory } from '../../../../extension/src/storage/network.ts';
import { stubBrowser } from '../emulated/browser-stubs.ts';
import { EmulatedBrowser } from '../emulated/emulated-browser.ts';
import { EmulatedExtension } from '../emulated/emulated-extension.ts';
import { listOffering } from '../emulated/emulated-page.ts';
import {
  assign,
  type EmulatedVisit,
  recordVisit,
  timeLoad,
  withoutBlocked,
} from '../emulated/emulated-visit.ts';
import { type DayPlan, type DayVisit, drawDay } from './draw-day.ts';

/**
 * What is recorded and learned: `light` by the extension as it is installed, `detail` where detailed recordings are allowed. Beside them, each load
 * is learned, or recorded in detail and learned.
 */
export const DAY_ARMS = ['light', 'detail', 'all-learned', 'all-detail'] as const;
export type DayArm = (typeof DAY_ARMS)[number];

/** What one load took, and would have taken otherwise, milliseconds. */
export interface DayLoad {
  pltMs: number;
  /** By the browser's own choice, without the extension. */
  offMs: number;
  /** Over HTTP/2. */
  h2Ms: number;
  isRecorded: boolean;
  isDetailed: boolean;
  isLearned: boolean;
}

/** @param signal ends it by throwing */
export async function runDay(arm: DayArm, plan: DayPlan, signal: AbortSignal): Promise<DayLoad[]> {
  const day = drawDay(plan);
  const random = randomFor(plan.split, plan.seed, 'trials', arm);
  const stubs = stubBrowser(() => random.fraction());
  try {
    stubs.setTime(day[0]!.beganMs);
    const [alone, piloted] = [new EmulatedBrowser(), new EmulatedBrowser()];
    const extension = await EmulatedExtension.install(piloted, false);
    const pages = new DetailedPages();
    let network: string | null = null;
    const loads: DayLoad[] = [];
    for (const each of day) {
      await nextTurn();
      signal.throwIfAborted();
      stubs.setTime(each.beganMs);
      if (each.network !== network) await extension.joinNetwork(keyOf(plan, each));
      network = each.network;
      const { visit } = each;
      const timed = (assignment: Assignment) => timeLoad(visit, withoutBlocked(assignment, visit));
      const [offMs, h2Ms] = [timed(loadIn(alone, visit)), timed(assign(visit, 'h2'))];
      piloted.endExpired();
      const { url } = visit.cell.graph;
      const isDetailed = arm === 'all-detail' || (arm === 'detail' && pages.has(url));
      const used = withoutBlocked(loadIn(piloted, visit), visit);
      const recording = recordVisit(visit, used, each.beganMs, isDetailed);
      stubs.setTime(each.beganMs + recording.pltMs!);
      const isRecorded = isDetailed || !extension.isResting(url);
      const before = await loadNetworkMemory();
      if (isRecorded) await pages.noteLoad(url, isDetailed);
      if (isRecorded)
        await extension.handleLoad(recording, {
          isDetailed,
          isAlwaysLearned: arm === 'all-learned',
          wantDetail: (wanted) => pages.wantIfRare(wanted),
        });
      const after = await loadNetworkMemory();
      const isLearned = JSON.stringify(after) !== JSON.stringify(before);
      loads.push({ pltMs: recording.pltMs!, offMs, h2Ms, isRecorded, isDetailed, isLearned });
    }
    return loads;
  } finally {
    stubs.restore();
  }
}

/** Names a network by a key that looks like those of the helper, which are 22 characters long. */
const keyOf = ({ networks }: DayPlan, { network }: DayVisit): string =>
  `${networks.indexOf(network)}`.padStart(22, '0');

/** @returns the protocols of a load, from which the browser learns */
function loadIn(browser: EmulatedBrowser, { cell }: EmulatedVisit): Assignment {
  const { origins } = cell.graph;
  const assignment = browser.assign(origins);
  browser.noteLoad(origins, listOffering(cell));
  return assignment;
}
