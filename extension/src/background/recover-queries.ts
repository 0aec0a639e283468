/** Asks a page that is still open for the query strings of its load, once the worker that knew them was stopped. */
import type { FrameReport } from '../recorder/joined-request.ts';
import type { StoredLoad } from '../storage/loads.ts';
import { isOfPage } from '../storage/loads.ts';
import { markerOf, removeUserinfoAndFragment } from '../storage/strip-urls.ts';
import { askFrames } from './collect-recording.ts';

/** Finds the query strings of a load, by number; null when no tab shows its page any more, or one of them cannot be found. */
export async function recoverQueries(load: StoredLoad): Promise<string[] | null> {
  const tabs = await chrome.tabs.query({});
  for (const { id, url } of tabs) {
    if (id === undefined || url === undefined || !isOfPage(load, url)) continue;
    const frames = await askFrames(id);
    const top = frames.find(({ frameId }) => frameId === 0);
    // The same page may have been loaded again, also in another tab. `systemOrigin` is not exact.
    if (top && Math.abs(top.timeOrigin - Date.parse(load.recording.recordedAt)) < 10)
      return matchQueries(load, frames, top.timeOrigin);
  }
  return null;
}

interface Requested {
  bareUrl: string;
  query: string;
  startMs: number;
}

function matchQueries(
  { requestedUrl, recording }: StoredLoad,
  frames: readonly FrameReport[],
  originMs: number,
): string[] | null {
  const requested = frames.flatMap((frame) => listRequested(frame, frame.timeOrigin - originMs));
  const queries: string[] = [];
  // URLs of different numbers differ.
  const taken = new Set<string>();
  // The page's own first: it has the same number as the navigation, where that was not redirected.
  const stripped = [
    ...recording.requests,
    { url: recording.url, startMs: 0 },
    { url: requestedUrl, startMs: 0 },
  ];
  for (const { url, startMs } of stripped) {
    const marker = markerOf(url);
    if (marker === null || queries[marker.number - 1] !== undefined) continue;
    const same = requested.filter(
      ({ bareUrl, query }) => bareUrl === marker.bareUrl && !taken.has(`${bareUrl}?${query}`),
    );
    const distance = (each: Requested) => Math.abs(each.startMs - startMs);
    const nearest = same.reduce<Requested | null>((a, b) => (a && distance(a) <= distance(b) ? a : b), null);
    if (nearest === null) return null;
    taken.add(`${nearest.bareUrl}?${nearest.query}`);
    queries[marker.number - 1] = nearest.query;
  }
  return queries;
}

/** Lists what a frame has requested with a query string, its own document included. */
function listRequested({ url, navigation, resources }: FrameReport, shiftMs: number): Requested[] {
  const documents = navigation ? [navigation.name, url].map((name) => ({ name, fetchStart: 0 })) : [];
  return [...documents, ...resources].flatMap(({ name, fetchStart }) => {
    const bare = removeUserinfoAndFragment(name);
    const at = bare.indexOf('?');
    if (at < 0) return [];
    return [{ bareUrl: bare.slice(0, at), query: bare.slice(at + 1), startMs: fetchStart + shiftMs }];
  });
}
