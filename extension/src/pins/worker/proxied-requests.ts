import { addressSpace, EVERY_ORIGIN, NO_PHASES, type PinKind } from '@hopwise/contract';
import type { RecordedRequest, Recording } from '@hopwise/pageload-emulator';
import { findPeriodsOf, isWithin, type PinPeriod } from '../../evidence/pin-period.ts';

/**
 * Corrects the requests that went through the helper's proxy to what happened on the network. The browser recorded the proxy's
 * address and, for pins to a protocol, the protocol and connection phases of its connection to the proxy. The time that the
 * helper's own connections took is part of the time to first byte. Through a tunnel, Chromium's connection phases
 * reach to the server, and Firefox's only to the helper.
 *
 * @param periods of pins that were active during the load
 */
export function correctProxiedRequests(recording: Recording, periods: readonly PinPeriod[]): Recording {
  if (periods.length === 0) return recording;
  const navigatedMs = Date.parse(recording.recordedAt);
  const isFirefox = recording.browser.startsWith('Firefox');
  const requests = recording.requests.map((request) => {
    const during = periods.filter((each) => isWithin(navigatedMs + request.startMs, each));
    const [period] = findPeriodsOf(new URL(request.url).origin, during);
    const isProxied = period && !request.fromCache && !(period.origin === EVERY_ORIGIN && isDirect(request));
    return isProxied ? correctRequest(period.kind, request, isFirefox) : request;
  });
  return { ...recording, requests };
}

/** The helper leads to public addresses alone: an origin that it turned out not to reach was requested directly. */
const isDirect = ({ remoteIp }: RecordedRequest): boolean =>
  remoteIp !== null && addressSpace(remoteIp) !== 'loopback';

function correctRequest(kind: PinKind, request: RecordedRequest, isFirefox: boolean): RecordedRequest {
  const { requestStartMs, responseStartMs } = request.phases;
  const isTunnel = kind === 'avoid-h3';
  const hasOwnPhases = isTunnel && !isFirefox;
  return {
    ...request,
    remoteIp: null,
    // Under `auto` the helper may have used any.
    ...(!isTunnel && { protocol: request.protocol === null || kind === 'auto' ? null : kind }),
    ...(!hasOwnPhases && { phases: { ...NO_PHASES, requestStartMs, responseStartMs } }),
  };
}
