import { loadLanguage } from '../language/load-language.ts';
import { type PlainKey, t } from '../language/translate.ts';
import type { IncompleteLoad, LatestAnswer, WhichLoad } from '../messages/load-messages.ts';
import { hasNoPage } from '../recorder/observed-request.ts';
import { findNewestLoad, getLoad, type StoredLoad } from '../storage/loads.ts';
import { maskQuery } from '../storage/strip-urls.ts';
import { knowsQueries } from './known-queries.ts';
import { selectShownLoad } from './shown-load.ts';
import { beganAt, findTab, readShownPage, type ShownPage, type TabFacts } from './shown-page.ts';
import type { PageBefore, TabLoad, TabLoads } from './tab-loads.ts';

/** Finds the load that a page of the extension requests. */
export async function findLoad(loads: TabLoads, which: WhichLoad): Promise<LatestAnswer> {
  if (which.tabId === undefined) {
    const load = (which.url === undefined ? undefined : await findNewestLoad(which.url)) ?? null;
    return answerWith(load ? 'recorded' : 'none', '', load);
  }
  const [tab, page] = await readTab(which.tabId);
  // After the page has answered: its report, which it says that it has sent, has then begun its load.
  const current = await loads.getLoad(which.tabId);
  const isExcluded = loads.excludedSites.has(tab.url);
  if (isExcluded || (page === null && tab.isOfWeb)) {
    const { phase, problem } = await describeFailure(isExcluded ? 'loadExcluded' : 'loadOutOfReach');
    return answerWith(phase, problem, null);
  }
  const seen = current && findShown(current, page, tab);
  if (!seen) {
    const isLoading = page === 'busy' || (page?.willReport && !page.isStopped);
    return answerWith(isLoading ? 'loading' : 'none', '', null);
  }
  const load = (seen.storedId === null ? undefined : await getLoad(seen.storedId)) ?? null;
  const { phase, problem } = await findOutcome(seen, load);
  if (load === null) return answerWith(phase, problem, null);
  const { load: shown, incomplete } = await selectShownLoad(load);
  return answerWith(phase, problem, shown, incomplete);
}

async function answerWith(
  phase: LatestAnswer['phase'],
  problem: string,
  load: StoredLoad | null,
  incomplete: IncompleteLoad | null = null,
): Promise<LatestAnswer> {
  const canExportQueries = load !== null && (await knowsQueries(load));
  return {
    ok: true,
    phase,
    problem,
    loadId: load?.id ?? null,
    load,
    canExportQueries,
    incomplete,
    pinGain: null,
  };
}

/** Whether a tab shows the page of a load: another one may be shown by now. */
export async function showsLoad(tabId: number, load: TabLoad): Promise<boolean> {
  const [tab, page] = await readTab(tabId);
  return isShownPage(load, page, tab);
}

const readTab = (tabId: number): Promise<[TabFacts, ShownPage]> =>
  Promise.all([findTab(tabId), readShownPage(tabId)]);

/** The load of the page that a tab shows: its last one, or, where that navigation led to no page, the one before. While the browser navigates, the tab shows the page before. */
function findShown(load: TabLoad, page: ShownPage, tab: TabFacts): TabLoad | PageBefore | null {
  const { before = null } = load;
  // Firefox tells that a tab has loaded a moment after the empty answer.
  if (before && (tab.isComplete || endedWithoutPage(load)) && isOf(page, before)) return before;
  return isShownPage(load, page, tab) ? load : null;
}

function isShownPage(load: TabLoad, page: ShownPage, tab: TabFacts): boolean {
  if (isOf(page, load)) return true;
  if (load.isNavigationSeen && load.phase === 'loading')
    return !(tab.isComplete && page !== null && page !== 'busy' && page.isStopped);
  return page === 'busy' && tab.isComplete && maskQuery(tab.url) === maskQuery(load.url);
}

const isOf = (page: ShownPage, { timeOrigin }: Pick<TabLoad, 'timeOrigin'>): boolean =>
  page !== null && page !== 'busy' && timeOrigin !== null && beganAt(page, timeOrigin);

/** A failure in the language of the user interface. */
async function describeFailure(why: PlainKey): Promise<Pick<LatestAnswer, 'phase' | 'problem'>> {
  await loadLanguage();
  return { phase: 'failed', problem: t(why) };
}

async function findOutcome(
  seen: TabLoad | PageBefore,
  load: StoredLoad | null,
): Promise<Pick<LatestAnswer, 'phase' | 'problem'>> {
  const { phase, problem } = seen;
  if (phase === 'shown') return describeFailure('loadNotLoaded');
  if (phase === 'recorded' && !load) return describeFailure('loadGone');
  if (phase === 'loading' && 'requests' in seen && endedWithoutPage(seen))
    return describeFailure('loadNoPage');
  return { phase, problem };
}

function endedWithoutPage({ requests }: TabLoad): boolean {
  const document = requests.findLast((request) => request.type === 'document');
  return document !== undefined && hasNoPage(document);
}
