import type { PinKind } from '@hopwise/contract';
import type { RecordedRequest, Recording } from '@hopwise/pageload-emulator';

/** The way of an origin's requests through the helper. */
export interface Carrier {
  kind: PinKind;
  /** Milliseconds since 1970. */
  sinceMs: number;
}

/**
 * The recording as it went over the network, where the helper carried some of it: the browser saw the helper's address, and of pins to a
 * protocol the helper's version of HTTP and connections. What those of the helper took is in the time to the first byte.
 *
 * @param carriers by origin
 */
export function asCarried(recording: Recording, carriers: ReadonlyMap<string, Carrier>): Recording {
  if (carriers.size === 0) return recording;
  const navigatedMs = Date.parse(recording.recordedAt);
  const requests = recording.requests.map((request) => {
    const carrier = carriers.get(new URL(request.url).origin);
    return carrier && !request.fromCache && navigatedMs + request.startMs >= carrier.sinceMs
      ? carriedBy(carrier, request)
      : request;
  });
  return { ...recording, requests };
}

function carriedBy({ kind }: Carrier, request: RecordedRequest): RecordedRequest {
  const carried = { ...request, remoteIp: null };
  if (kind === 'avoid-h3') return carried;
  return {
    ...carried,
    protocol: request.protocol === null ? null : kind,
    phases: {
      ...request.phases,
      dnsStartMs: null,
      dnsEndMs: null,
      connectStartMs: null,
      secureStartMs: null,
      connectEndMs: null,
    },
  };
}
