import { InputError } from '../../util/input-error.ts';
import { objectOf } from './values.ts';

/** A HAR's log, and the paths of its parts in the input. */
export interface HarForm {
  log: unknown;
  place: readonly PropertyKey[];
  entriesPlace: readonly PropertyKey[];
}

/**
 * Recognises the forms of a HAR: a file (`{log}`), a log alone as `chrome.devtools.network.getHAR` passes it, and entries
 * as `onRequestFinished` passes them, one or an array. A file in an array is read as the file, and so is one beside other things, as
 * Splash returns it (`{har}`).
 *
 * @returns null for any other input
 * @throws InputError for an array of several files
 */
export function harForm(input: unknown): HarForm | null {
  if (Array.isArray(input) && input.length > 0 && input.every((each) => objectOf(objectOf(each)?.log))) {
    if (input.length > 1)
      throw new InputError(`top level: expected one HAR, got an array of ${input.length}`);
    return { log: input[0].log, place: [0, 'log'], entriesPlace: [0, 'log', 'entries'] };
  }
  if (Array.isArray(input)) {
    // Charles's own sessions are lists of requests, too, and logs of the DevTools protocol of messages.
    const first = objectOf(input[0]) ?? {};
    const isOther = ['durations', 'params', 'message'].some((field) => field in first);
    return isOther ? null : { log: { entries: input }, place: [], entriesPlace: [] };
  }
  const object = objectOf(input);
  if (object === null) return null;
  if ('log' in object) return { log: object.log, place: ['log'], entriesPlace: ['log', 'entries'] };
  const { log: inner } = objectOf(object.har) ?? {};
  if (inner !== undefined)
    return { log: inner, place: ['har', 'log'], entriesPlace: ['har', 'log', 'entries'] };
  if ('entries' in object) return { log: object, place: [], entriesPlace: ['entries'] };
  if ('request' in object && 'startedDateTime' in object) {
    return { log: { entries: [object] }, place: [], entriesPlace: [] };
  }
  return null;
}
