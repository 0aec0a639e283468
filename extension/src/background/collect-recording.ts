import { originOf, type Recording } from '@hopwise/pageload-emulator';
import { ShownError } from '../language/shown-error.ts';
import { t } from '../language/translate.ts';
import { isFrameEntry, joinRecording } from '../recorder/join.ts';
import type { FrameReport } from '../recorder/joined-request.ts';
import { MAX_FRAMES } from '../recorder/limits.ts';
import { type Collect, type FrameTimings, frameTimingsSchema } from '../recorder/page-timings.ts';
import { findSystemOrigin } from '../recorder/system-origin.ts';
import { withoutQueries } from '../storage/strip-load.ts';
import { ALL_SITES } from '../ui/site-access.ts';
import { noteDroppedReport } from './dropped-reports.ts';
import type { ExcludedSites } from './excluded-sites.ts';
import { beganAt, readShownPage } from './shown-page.ts';
import type { TabLoad } from './tab-loads.ts';

/** Limits the wait for frames that are busy, or that were removed after their request. */
const FRAME_TIMEOUT_MS = 3000;

/**
 * Asks the frames of a tab for their timings and joins them with the requests seen.
 *
 * @param hasFrames whether the page has frames besides the top one
 * @param sent timings of the top frame, as it reported them when the page had settled
 * @param final whether the frames may stop observing
 * @throws Error when the page cannot be recorded
 */
export async function collectRecording(
  tabId: number,
  load: TabLoad,
  excludedSites: Pick<ExcludedSites, 'has'>,
  documentId: string,
  hasFrames: boolean,
  sent: FrameTimings,
  final: boolean,
): Promise<Recording> {
  const seesRequests = load.isDetailed && load.isNavigationSeen;
  const ofRequests = load.requests.map((request) => request.frameId).filter((id) => id >= 0);
  const others = seesRequests || !hasFrames ? ofRequests : await findFrames(tabId, sent.timeOrigin);
  const frameIds = [...new Set([0, ...others])].slice(0, MAX_FRAMES);
  const ask = (frameId: number) => askFrame(tabId, frameId, documentId, final);
  const reports = await Promise.all(
    frameIds.map(async (frameId) => {
      if (frameId !== 0 || !sent.isTop) return ask(frameId);
      // Where requests are seen, some have ended after the report.
      return (load.isDetailed ? await ask(0) : null) ?? reportOf(sent, frameId);
    }),
  );
  const frames = reports.filter((report) => report !== null).filter(({ url }) => !excludedSites.has(url));
  refuseOtherSite(frames, load);
  const own = frames.map((frame) => withoutExcluded(frame, excludedSites));
  // Where the worker was stopped in mid-load, the requests before that have no query strings: all are then joined without.
  const { requests, failures } = load.hidesQueries ? withoutQueries(load) : load;
  return joinRecording({
    requests,
    failures,
    frames: load.hidesQueries ? withoutQueries(own) : own,
    seesRequests,
    documentId,
    browser: browserName(),
    takenAt: Date.now(),
    seesAllSites: await chrome.permissions.contains(ALL_SITES),
  });
}

/** Asks all frames of a tab for their timings. They go on observing. */
export async function askFrames(tabId: number): Promise<FrameReport[]> {
  const frameIds = [...new Set([0, ...(await injectIntoFrames(tabId))])].slice(0, MAX_FRAMES);
  const reports = await Promise.all(frameIds.map((frameId) => askFrame(tabId, frameId, '', false)));
  return reports.filter((report) => report !== null);
}

/** @throws Error when the page names another site than the browser: it may be captured, and speak for that */
function refuseOtherSite(frames: readonly FrameReport[], { requests, url }: TabLoad): void {
  const top = frames.find(({ frameId }) => frameId === 0);
  const loaded = requests.findLast(({ type }) => type === 'document')?.url ?? url;
  for (const said of top ? [top.url, top.navigation?.name ?? top.url] : []) {
    if (originOf(said) === originOf(loaded)) continue;
    noteDroppedReport(said, loaded);
    throw new ShownError(() => t('recordOtherSite'));
  }
}

/** A frame's timings, with its beginning by the clock that all frames, the worker and the browser's requests have in common. */
const reportOf = (timings: FrameTimings, frameId: number): FrameReport => ({
  ...timings,
  timeOrigin: findSystemOrigin(timings),
  frameId,
});

/** Leaves out a frame's requests for the documents of excluded sites. */
function withoutExcluded(frame: FrameReport, excludedSites: Pick<ExcludedSites, 'has'>): FrameReport {
  const resources = frame.resources.filter(
    (resource) => !isFrameEntry(resource) || !excludedSites.has(resource.name),
  );
  return { ...frame, resources };
}

/** Finds the frames of the page that began at `timeOrigin`. @returns their ids; none where the tab shows another page by now */
async function findFrames(tabId: number, timeOrigin: number): Promise<number[]> {
  const frameIds = await injectIntoFrames(tabId);
  // Asked only now: after an earlier answer another page could have followed, whose frames these are.
  const page = await readShownPage(tabId);
  const isOther = page !== null && page !== 'busy' && !beganAt(page, timeOrigin);
  return isOther ? [] : frameIds;
}

/**
 * Has the light content script run in all frames, after the page's load; at once, as a frame may never finish loading.
 *
 * @returns the frames' ids; none where a frame is so busy that the browser does not answer in time
 */
async function injectIntoFrames(tabId: number): Promise<number[]> {
  const injection = { target: { tabId, allFrames: true }, files: ['content.js'], injectImmediately: true };
  try {
    const results = await withinLimit(chrome.scripting.executeScript(injection));
    return (results ?? []).map(({ frameId }) => frameId);
  } catch {
    // The tab was closed or is at another page: the top frame's answer shows it.
    return [];
  }
}

/** @returns null where the answer takes longer than `FRAME_TIMEOUT_MS` */
const withinLimit = <T>(answer: Promise<T>): Promise<T | null> =>
  Promise.race([answer, new Promise<null>((resolve) => setTimeout(() => resolve(null), FRAME_TIMEOUT_MS))]);

async function askFrame(
  tabId: number,
  frameId: number,
  topDocumentId: string,
  final: boolean,
): Promise<FrameReport | null> {
  const message: Collect = { type: 'collect', final };
  // Every page of a tab is frame 0: the next one must not answer for this one.
  const to = frameId === 0 && topDocumentId ? { documentId: topDocumentId } : { frameId };
  let answer: unknown;
  try {
    answer = await withinLimit(chrome.tabs.sendMessage(tabId, message, to));
  } catch {
    // The frame is gone, or no content script may run in it: its requests stay without timings.
    return null;
  }
  const parsed = frameTimingsSchema.safeParse(answer);
  if (!parsed.success) return null;
  // An id that the browser resolves to the top frame would count the page's requests twice.
  return parsed.data.isTop === (frameId === 0) ? reportOf(parsed.data, frameId) : null;
}

/** Name and major version, such as `Chromium 156`. */
function browserName(): string {
  const { userAgentData, userAgent } = navigator as Navigator & {
    userAgentData?: { brands: { brand: string; version: string }[] };
  };
  // Chromium adds an invented brand to the list (GREASE), to keep sites from relying on its form.
  const brands =
    userAgentData?.brands.filter(({ brand }) => !/not.?a.?brand/i.test(brand.replace(/\W/g, ''))) ?? [];
  const brand = brands.find(({ brand }) => brand !== 'Chromium') ?? brands[0];
  if (brand) return `${brand.brand} ${brand.version}`.slice(0, 64);
  return /Firefox\/\d+/.exec(userAgent)?.[0].replace('/', ' ') ?? '';
}
