import { NO_PHASES, type PinKind } from '@hopwise/contract';
import type { RecordedRequest, Recording } from '@hopwise/pageload-emulator';

/** An origin whose requests go through the helper's proxy. */
export interface ProxiedOrigin {
  kind: PinKind;
  /** Milliseconds since 1970. */
  sinceMs: number;
  /** Whether the user has allowed the helper to connect to an address that is not public. */
  allowsLocal: boolean;
}

/**
 * Corrects the requests that went through the helper's proxy to what happened on the network. The browser recorded the proxy's
 * address and, for pins to a protocol, the protocol and connection phases of its connection to the proxy. The time that the
 * helper's own connections took is part of the time to first byte.
 *
 * @param proxiedOrigins active pins, by origin
 */
export function correctProxiedRequests(
  recording: Recording,
  proxiedOrigins: ReadonlyMap<string, ProxiedOrigin>,
): Recording {
  if (proxiedOrigins.size === 0) return recording;
  const navigatedMs = Date.parse(recording.recordedAt);
  const requests = recording.requests.map((request) => {
    const proxied = proxiedOrigins.get(new URL(request.url).origin);
    return proxied && !request.fromCache && navigatedMs + request.startMs >= proxied.sinceMs
      ? correctRequest(proxied, request)
      : request;
  });
  return { ...recording, requests };
}

function correctRequest({ kind }: ProxiedOrigin, request: RecordedRequest): RecordedRequest {
  const corrected = { ...request, remoteIp: null };
  if (kind === 'avoid-h3') return corrected;
  return {
    ...corrected,
    protocol: request.protocol === null ? null : kind,
    phases: {
      ...NO_PHASES,
      requestStartMs: request.phases.requestStartMs,
      responseStartMs: request.phases.responseStartMs,
    },
  };
}
