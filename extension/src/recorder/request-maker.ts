import type { ElementLog } from './element-log.ts';
import { MAX_SCRIPT_RUN_CHARS, MAX_TEXT_CHARS } from './limits.ts';
import type { FrameResource, RequestMaker } from './page-timings.ts';
import { withoutFragment } from './url-text.ts';

/** Coarsest resolution of a page's clock. */
const CLOCK_RESOLUTION_MS = 1;

/** Initiator types of requests that no element made, though one may have the same URL. */
const WITHOUT_ELEMENT = new Set(['css', 'fetch', 'xmlhttprequest', 'beacon', 'ping']);

/** Finds what made a request: by its element, by `initiatorUrl` (Resource Timing, in some browsers), or by having no element. */
export function findMaker(entry: PerformanceResourceTiming, elements: ElementLog): RequestMaker | null {
  const { initiatorUrl } = entry as { initiatorUrl?: string };
  const named = withoutFragment(initiatorUrl ?? '');
  if (named !== '' && named !== withoutFragment(document.URL)) return { by: 'script', scriptUrl: named };
  if (WITHOUT_ELEMENT.has(entry.initiatorType)) return null;
  const author = elements.findAuthor(entry.name);
  if (author?.by === 'parser') return { by: 'parser', scriptUrl: null };
  if (author) {
    // A script may insert an image that it, or another one, has requested before.
    const isOfInsertion = entry.startTime >= author.sinceMs - CLOCK_RESOLUTION_MS;
    return { by: 'script', scriptUrl: isOfInsertion ? author.scriptUrl : null };
  }
  const isDetached = entry.initiatorType === 'img' && !elements.isIncomplete;
  return isDetached ? { by: 'script', scriptUrl: null } : null;
}

/** Leaves out the scripts' URLs that do not fit into one message. */
export function limitMakers(entries: FrameResource[]): FrameResource[] {
  let charsLeft = MAX_SCRIPT_RUN_CHARS;
  return entries.map((entry) => {
    const length = entry.maker?.scriptUrl?.length ?? 0;
    if (length <= charsLeft && length <= MAX_TEXT_CHARS) {
      charsLeft -= length;
      return entry;
    }
    return { ...entry, maker: null };
  });
}
