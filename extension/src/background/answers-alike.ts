import { documentOf } from '../load/load-quality.ts';
import { getLoad, getSummaries, isOfPage, type StoredLoad } from '../storage/loads.ts';

/** Errors that static hosts answer with where only the scripts of the page know its address. Busy servers answer otherwise. */
const PAGE_STATUSES = [403, 404];
/** How many of a page's last loads show how it is always answered. */
const MIN_LOADS = 3;

/**
 * Whether a server answered with an error as it did in all of the page's last loads: what came with it is then the page.
 *
 * @param storedId of the load itself, if it is stored already
 */
export async function answersAlike(
  recording: StoredLoad['recording'],
  storedId: number | null,
): Promise<boolean> {
  const status = documentOf(recording)?.status ?? 0;
  if (!PAGE_STATUSES.includes(status)) return false;
  const ofPage = (await getSummaries()).filter(
    (each) => each.id !== storedId && isOfPage(each, recording.url),
  );
  const last = await Promise.all(ofPage.slice(-MIN_LOADS).map(({ id }) => getLoad(id)));
  return (
    last.length === MIN_LOADS && last.every((each) => each && documentOf(each.recording)?.status === status)
  );
}
