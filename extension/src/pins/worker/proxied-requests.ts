import { addressSpace, EVERY_ORIGIN, NO_PHASES, type PinKind } from '@hopwise/contract';
import type { RecordedRequest, Recording } from '@hopwise/pageload-emulator';
import { findPeriodsOf, isWithin, type PinPeriod } from '../../evidence/pin-period.ts';

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
    const during = periods.filter((each) => isWithin(navigatedMs + request.startMs, each));
    const [period] = findPeriodsOf(new URL(request.url).origin, during);
    const isProxied = period && !request.fromCache && !(period.origin === EVERY_ORIGIN && isDirect(request));
    return isProxied ? correctRequest(period.kind, request) : request;
  });
  return { ...recording, requests };
}

/** The helper leads to public addresses alone: an origin that it turned out not to reach was requested directly. */
const isDirect = ({ remoteIp }: RecordedRequest): boolean =>
  remoteIp !== null && addressSpace(remoteIp) !== 'loopback';

function correctRequest(kind: PinKind, request: RecordedRequest): RecordedRequest {
  const corrected = { ...request, remoteIp: null };
  if (kind === 'avoid-h3') return corrected;
  return {
    ...corrected,
    // Under `auto` the helper may have used any.
    protocol: request.protocol === null || kind === 'auto' ? null : kind,
    phases: {
      ...NO_PHASES,
      requestStartMs: request.phases.requestStartMs,
      responseStartMs: request.phases.responseStartMs,
    },
  };
}
