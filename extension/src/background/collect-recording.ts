import type { Recording } from '@hopwise/pageload-emulator';
import { joinRecording } from '../recorder/join.ts';
import type { FrameReport } from '../recorder/joined-request.ts';
import { MAX_FRAMES } from '../recorder/limits.ts';
import { type Collect, frameTimingsSchema } from '../recorder/page-timings.ts';
import { ALL_SITES } from '../ui/site-access.ts';
import type { TabLoad } from './tab-loads.ts';

/** Limits the wait for a frame that is busy, or that was removed after its request. */
const FRAME_TIMEOUT_MS = 3000;

/**
 * Asks all frames of a tab for their timings and joins them with the requests seen.
 *
 * @param final whether the frames may stop observing
 * @throws Error when the page cannot be recorded
 */
export async function collectRecording(
  tabId: number,
  load: TabLoad,
  documentId: string,
  final: boolean,
): Promise<Recording> {
  const seen = new Set([0, ...load.requests.map((request) => request.frameId)].filter((id) => id >= 0));
  const frameIds = [...seen].slice(0, MAX_FRAMES);
  const reports = await Promise.all(frameIds.map((frameId) => askFrame(tabId, frameId, documentId, final)));
  return joinRecording({
    requests: load.requests,
    frames: reports.filter((report) => report !== null),
    documentId,
    browser: browserName(),
    takenAt: Date.now(),
    seesAllSites: await chrome.permissions.contains(ALL_SITES),
  });
}

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
    answer = await Promise.race([
      chrome.tabs.sendMessage(tabId, message, to),
      new Promise((resolve) => setTimeout(resolve, FRAME_TIMEOUT_MS)),
    ]);
  } catch {
    // The frame is gone, or no content script may run in it: its requests stay without timings.
    return null;
  }
  const parsed = frameTimingsSchema.safeParse(answer);
  if (!parsed.success) return null;
  // An id that the browser resolves to the top frame would count the page's requests twice.
  return parsed.data.isTop === (frameId === 0) ? { ...parsed.data, frameId } : null;
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
