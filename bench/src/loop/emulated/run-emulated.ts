/** Visits of drawn pages with the extension and without it, all emulated. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { MINUTE_MS } from '@hopwise/contract';
import { networkOf } from '@hopwise/lab/client/networks';
import { randomFor, type Split } from '@hopwise/lab/gauntlet/splits';
import type { SeededRandom } from '@hopwise/lab/random';
import type { Assignment } from '@hopwise/pageload-emulator';
import { networkNamed } from '../../product/networks.ts';
import { networkAt, partsOf } from '../../product/run-product.ts';
import { type TrueCell, trueCell } from '../../reading/true-load.ts';
import { stubBrowser } from './browser-stubs.ts';
import { EmulatedBrowser } from './emulated-browser.ts';
import { EmulatedExtension } from './emulated-extension.ts';
import { drawOwnPage, listOffering } from './emulated-page.ts';
import {
  assign,
  drawVisit,
  type EmulatedVisit,
  recordVisit,
  timeLoad,
  withoutBlocked,
} from './emulated-visit.ts';
import type { EmulatedLoopVisit, PinUse } from './judge-pin-uses.ts';

/** Minutes from one visit of a page to the next, log-uniformly between these. */
const PAUSE_MINUTES = [1, 30] as const;
const BEGINNING_MS = Date.parse('2026-01-05T08:00:00Z');
const PROTOCOLS = ['h1', 'h2', 'h3'] as const;

export interface EmulatedPlan {
  split: Split;
  seed: number;
  pages: number;
  /** How often each page is loaded. */
  loads: number;
  /** Names; several with `>` between them replace one another during the visits of each page, unnoticed. */
  networks: readonly string[];
  explores: boolean;
}

interface Reporting {
  signal: AbortSignal;
  report(text: string): void;
}

/** @returns visits of the arms `off`, `auto` or `explore`, and of each protocol, in the order in which they were made */
export async function runEmulated(plan: EmulatedPlan, reporting: Reporting): Promise<EmulatedLoopVisit[]> {
  const visits: EmulatedLoopVisit[] = [];
  for (const network of plan.networks) visits.push(...(await runNetwork(network, plan, reporting)));
  return visits;
}

/** The pages one after another, in browsers that keep what they know from page to page. */
async function runNetwork(
  network: string,
  { split, seed, pages, loads, explores }: EmulatedPlan,
  { signal, report }: Reporting,
): Promise<EmulatedLoopVisit[]> {
  const random = randomFor(split, seed, 'loop', network);
  // Drawn apart from the visits, so that these are the same with trials and without.
  const trials = randomFor(split, seed, 'trials', network);
  const stubs = stubBrowser(() => trials.fraction());
  let nowMs = BEGINNING_MS;
  stubs.setTime(nowMs);
  try {
    const [alone, piloted] = [new EmulatedBrowser(), new EmulatedBrowser()];
    const extension = await EmulatedExtension.install(piloted, explores);
    const visits: EmulatedLoopVisit[] = [];
    for (let number = 0; number < pages; number++) {
      const page = pageOn(network, split, seed, number);
      let isTrial = false;
      for (let visit = 1; visit <= loads; visit++) {
        await nextTurn();
        signal.throwIfAborted();
        report(`${network}, ${page.name}, visit ${visit}`);
        nowMs += drawPauseMs(random);
        stubs.setTime(nowMs);
        const drawn = drawVisit(page, networkAt(network, visit, loads), random);
        const shared = { network, page: page.name, visit, disturbedBy: [] };
        const own = loadIn(alone, drawn);
        for (const { arm, pltMs } of timeFixed(drawn, own)) visits.push({ ...shared, arm, pltMs });
        piloted.endExpired();
        const { origins } = page.graph;
        const assignment = piloted.assign(origins);
        const pinUse = pinUseOf(piloted, assignment, { isTrial, own });
        const recording = recordVisit(drawn, withoutBlocked(assignment, drawn), nowMs);
        const pltMs = recording.pltMs!;
        nowMs += pltMs;
        stubs.setTime(nowMs);
        piloted.noteLoad(origins, listOffering(page));
        const runs = extension.isResting(recording.url) ? [] : await extension.handleLoad(recording);
        isTrial = runs.some(({ trigger, end }) => trigger === 'trial' && end === null);
        visits.push({ ...shared, arm: explores ? 'explore' : 'auto', pltMs, runs, pinUse });
      }
    }
    return visits;
  } finally {
    stubs.restore();
  }
}

const drawPauseMs = (random: SeededRandom): number => {
  const [low, high] = PAUSE_MINUTES;
  return low * (high / low) ** random.fraction() * MINUTE_MS;
};

/** Times of a visit by the browser alone and under each protocol. @param own protocols that the browser alone uses */
function timeFixed(visit: EmulatedVisit, own: Assignment): Pick<EmulatedLoopVisit, 'arm' | 'pltMs'>[] {
  const fixed = [['off', own] as const, ...PROTOCOLS.map((arm) => [arm, assign(visit, arm)] as const)];
  return fixed.map(([arm, assignment]) => ({
    arm,
    pltMs: timeLoad(visit, withoutBlocked(assignment, visit)),
  }));
}

/** @param own protocols that the browser alone uses */
function pinUseOf(
  browser: EmulatedBrowser,
  assignment: Assignment,
  { isTrial, own }: { isTrial: boolean; own: Assignment },
): PinUse {
  if (browser.hasPinOn(Object.keys(assignment))) return isTrial ? 'trial' : 'pins';
  return isDeepStrictEqual(assignment, own) ? 'alike' : 'after';
}

function pageOn(network: string, split: Split, seed: number, number: number): TrueCell {
  const page = drawOwnPage(split, seed, number);
  const first = networkOf(networkNamed(partsOf(network)[0]!));
  return trueCell({ page, name: page.name, network: first }, number);
}

/** @returns the protocols of a load in a browser without pins, which learns from it */
function loadIn(browser: EmulatedBrowser, { cell }: EmulatedVisit): Assignment {
  const { origins } = cell.graph;
  const assignment = browser.assign(origins);
  browser.noteLoad(origins, listOffering(cell));
  return assignment;
}
