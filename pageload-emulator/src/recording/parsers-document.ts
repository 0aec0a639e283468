import type { RecordedRequest, Recording } from '@hopwise/contract';
import { documentOf } from './requests/draft.ts';

/**
 * Names the page's document as the initiator of what a parser found and the recorder names no document for, as Resource Timing does
 * not: it shows only the requests of one document.
 */
export function nameParsersDocument(recording: Recording): Recording {
  const document = documentOf(recording);
  const name = (request: RecordedRequest): RecordedRequest => {
    const { kind, requestId } = request.initiator;
    // An initiator comes before what it initiates.
    if (kind !== 'parser' || requestId !== null || request.id <= document.id) return request;
    return { ...request, initiator: { kind, requestId: document.id, source: 'inferred' } };
  };
  return { ...recording, requests: recording.requests.map(name) };
}
