import type { Recording } from '@hopwise/pageload-emulator';

/** The recording with its requests in order of their starts, numbered anew. */
export function inOrder(recording: Recording): Recording {
  const sorted = recording.requests.toSorted((a, b) => a.startMs - b.startMs);
  const positions = new Map(sorted.map(({ id }, position) => [id, position]));
  const requests = sorted.map((request, id) => {
    const { requestId } = request.initiator;
    const initiator = {
      ...request.initiator,
      requestId: requestId === null ? null : positions.get(requestId)!,
    };
    return { ...request, id, initiator };
  });
  return { ...recording, requests };
}
