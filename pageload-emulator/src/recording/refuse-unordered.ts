import type { Recording } from '@hopwise/contract';
import { InputError, shown } from '../util/input-error.ts';
import { originOf } from '../util/url.ts';

/**
 * Refuses a `Recording` made by hand whose requests are not as its type describes them: ids are positions, starts ascend, ends come
 * after starts, initiators come first, URLs are http or https. What `parseRecording` returns is.
 *
 * @throws InputError naming the place of the first thing that is wrong
 */
export function refuseUnordered({ requests }: Pick<Recording, 'requests'>): void {
  if (requests.length === 0) throw new InputError('requests: expected at least one request, got none');
  let formerMs = Number.NEGATIVE_INFINITY;
  for (const [index, { id, url, startMs, endMs, initiator }] of requests.entries()) {
    const refuse = (field: string, expected: string, value: unknown): never => {
      throw new InputError(`requests[${index}].${field}: expected ${expected}, got ${shown(value)}`);
    };
    if (id !== index) refuse('id', `${index}, its position`, id);
    if (originOf(url) === null) refuse('url', 'an http or https URL', url);
    if (!Number.isFinite(startMs)) refuse('startMs', 'a number', startMs);
    if (startMs < formerMs)
      refuse('startMs', `at least ${formerMs}, when the request before it began`, startMs);
    if (!(Number.isFinite(endMs) && endMs >= startMs))
      refuse('endMs', `at least ${startMs}, its start`, endMs);
    const { requestId } = initiator;
    if (requestId !== null && !(Number.isInteger(requestId) && requestId >= 0 && requestId < index)) {
      refuse('initiator.requestId', 'the id of a request before it', requestId);
    }
    formerMs = startMs;
  }
}
