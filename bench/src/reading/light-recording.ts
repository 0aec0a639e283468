import type { RecordedRequest, Recording, ResourceType } from '@hopwise/pageload-emulator';

/**
 * Hides of a recording what the extension does not see of a light load: initiators, connections, and which servers offer HTTP/3. Of each
 * request it knows the frame.
 *
 * @param recording with all initiators
 */
export function hideDetails(recording: Recording): Recording {
  const { requests } = recording;
  const isDocument = ({ type }: RecordedRequest) => type === 'document' || type === 'iframe';
  /** The document of the frame in which a request's initiator is; null for the page's own. */
  const documentOf = ({ initiator: { requestId } }: RecordedRequest): RecordedRequest | null => {
    const from = requestId === null ? null : requests[requestId]!;
    return from === null || isDocument(from) ? from : documentOf(from);
  };
  const [page] = requests;
  // Scripts in the markup have run by `DOMContentLoaded`, but for the `async` ones.
  const parsed = requests.filter(
    (request) =>
      request === page ||
      (request.type === 'script' && request.initiator.kind === 'parser' && documentOf(request) === page),
  );
  return {
    ...recording,
    domContentLoadedMs: Math.max(...parsed.map(({ endMs }) => endMs)),
    showsConnections: true,
    requests: requests.map((request): RecordedRequest => {
      const document = documentOf(request);
      return {
        ...request,
        connectionId: null,
        offersH3: null,
        ...(document && {
          initiator: { kind: unseenKind(request.type), requestId: document.id, source: 'inferred' },
        }),
      };
    }),
  };
}

/** What the extension takes for a request's initiator where it knows the request's type alone (`recorder/initiators.ts`). */
const unseenKind = (type: ResourceType) => (type === 'fetch' || type === 'beacon' ? 'script' : 'parser');
