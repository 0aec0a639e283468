import { NO_PHASES, type PinKind } from '@hopwise/contract';
import type { RecordedRequest, Recording } from '@hopwise/pageload-emulator';
import { isWithin, type PinPeriod } from '../../evidence/pin-period.ts';

/**
 * Corrects the requests that went through the helper's proxy to what happened on the network. The browser recorded the proxy's
 * address and, for pins to a protocol, the protocol and connection phases of its connection to the proxy. The time that the
 * helper's own connections took is part of the time to first byte.
 *
 * @param periods of pins that were active during the load
 */
export function correctProxiedRequests(recording: Recording, periods: readonly PinPeriod[]): Recording {
  if (periods.length === 0) return recording;
  const navigatedMs = Date.parse(recording.recordedAt);
  const requests = recording.requests.map((request) => {
    const { origin } = new URL(request.url);
    const period = periods.find(
      (each) => each.origin === origin && isWithin(navigatedMs + request.startMs, each),
    );
    return period && !request.fromCache ? correctRequest(period.kind, request) : request;
  });
  return { ...recording, requests };
}

function correctRequest(kind: PinKind, request: RecordedRequest): RecordedRequest {
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
