import { objectOf } from './values.ts';

/** A HAR's log and where its parts stand in what was read. */
export interface HarForm {
  log: unknown;
  place: readonly PropertyKey[];
  entriesPlace: readonly PropertyKey[];
}

/**
 * The forms in which HARs come: a file (`{log}`), a log alone as `chrome.devtools.network.getHAR` gives it, and entries
 * as `onRequestFinished` gives them, one or an array.
 *
 * @returns null for anything else
 */
export function harForm(input: unknown): HarForm | null {
  if (Array.isArray(input)) return { log: { entries: input }, place: [], entriesPlace: [] };
  const object = objectOf(input);
  if (object === null) return null;
  if ('log' in object) return { log: object.log, place: ['log'], entriesPlace: ['log', 'entries'] };
  if ('entries' in object) return { log: object, place: [], entriesPlace: ['entries'] };
  if ('request' in object && 'startedDateTime' in object) {
    return { log: { entries: [object] }, place: [], entriesPlace: [] };
  }
  return null;
}
