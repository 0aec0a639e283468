/** One load as other recorders would have written it. */
import { parseRecording, type RecordedRequest, type Recording } from '@hopwise/pageload-emulator';

/**
 * - `devtools`: HAR of DevTools, starts in whole milliseconds, queueing inside `blocked`. `connect` begins where `dns` ends, and the
 *   wait from there to the dispatch of the request is part of `send`.
 * - `chrome-har`: queueing before `startedDateTime`, as Browsertime and sitespeed.io write. Waits between phases are in no field, so
 *   what follows them comes too early.
 * - `resource-timing`: what the browser shows to a page or an extension, without connections, priorities and initiators of what
 *   the parser finds.
 */
export const RECORDERS = ['devtools', 'chrome-har', 'resource-timing'] as const;
export type Recorder = (typeof RECORDERS)[number];

export function writtenBy(recorder: Recorder, recording: Recording): Recording {
  return recorder === 'resource-timing'
    ? { ...recording, requests: recording.requests.map(asTiming) }
    : parseRecording(harOf(recording, recorder));
}

function asTiming(request: RecordedRequest): RecordedRequest {
  const { kind } = request.initiator;
  return {
    ...request,
    connectionId: null,
    remoteIp: null,
    urgency: null,
    ...(kind === 'parser' && { initiator: { kind, requestId: null, source: 'inferred' } }),
  };
}

type HarRecorder = Exclude<Recorder, 'resource-timing'>;

/** Time of the network stack between the end of queueing and its first phase, of which a recording knows only the sum. */
const STALLED_MS = 0.5;

function harOf(recording: Recording, recorder: HarRecorder): object {
  const startedAt = Date.parse(recording.recordedAt);
  return {
    log: {
      version: '1.2',
      creator:
        recorder === 'devtools'
          ? { name: 'WebInspector', version: '537.36' }
          : { name: 'Browsertime', version: '25' },
      pages: [
        {
          id: 'page_1',
          startedDateTime: new Date(startedAt).toISOString(),
          title: recording.url,
          pageTimings: { onContentLoad: recording.domContentLoadedMs, onLoad: recording.pltMs },
        },
      ],
      entries: recording.requests.map((request) => entryOf(request, recording, recorder, startedAt)),
    },
  };
}

const DEVTOOLS_TYPES: Partial<Record<RecordedRequest['type'], string>> = {
  style: 'stylesheet',
  iframe: 'document',
  beacon: 'ping',
};
/** By urgency. */
const PRIORITIES = ['VeryHigh', 'High', 'Medium', 'Low', 'VeryLow'];

function entryOf(
  request: RecordedRequest,
  { requests }: Recording,
  recorder: HarRecorder,
  startedAt: number,
): object {
  const { phases, startMs, endMs, protocol, initiator, urgency } = request;
  const sentMs = phases.requestStartMs ?? startMs;
  const firstMs = phases.dnsStartMs ?? phases.connectStartMs ?? sentMs;
  const queuedMs = Math.max(0, firstMs - startMs - STALLED_MS);
  const isQueuedBefore = recorder === 'chrome-har';
  const length = (from: number | null, to: number | null) => (from === null || to === null ? -1 : to - from);
  const answeredMs = phases.responseStartMs ?? endMs;
  const connectStartMs = phases.connectStartMs === null ? null : (phases.dnsEndMs ?? phases.connectStartMs);
  const readyMs = phases.connectEndMs ?? phases.dnsEndMs ?? firstMs;
  const lengths = {
    blocked: firstMs - startMs - (isQueuedBefore ? queuedMs : 0),
    dns: length(phases.dnsStartMs, phases.dnsEndMs),
    connect: length(isQueuedBefore ? phases.connectStartMs : connectStartMs, phases.connectEndMs),
    send: isQueuedBefore ? 0 : Math.max(0, sentMs - readyMs),
    wait: answeredMs - sentMs,
    receive: endMs - answeredMs,
  };
  const timings = {
    ...lengths,
    ssl: length(phases.secureStartMs, phases.connectEndMs),
    ...(isQueuedBefore ? { _queued: queuedMs } : { _blocked_queueing: queuedMs }),
  };
  const cause = initiator.requestId === null ? undefined : requests[initiator.requestId]?.url;
  const version = protocol === null ? '' : { h1: 'http/1.1', h2: 'h2', h3: 'h3' }[protocol];
  return {
    pageref: 'page_1',
    startedDateTime: new Date(startedAt + startMs + (isQueuedBefore ? queuedMs : 0)).toISOString(),
    time: Object.values(lengths).reduce((sum, lengthMs) => sum + Math.max(0, lengthMs), 0),
    request: {
      method: request.method,
      url: request.url,
      httpVersion: version,
      headers: [],
      headersSize: -1,
      bodySize: 0,
    },
    response: {
      status: request.status,
      httpVersion: version,
      headers: headersOf(request),
      redirectURL: '',
      headersSize: -1,
      bodySize: request.bodyBytes ?? -1,
      _transferSize: request.transferBytes,
      content: { size: request.decodedBytes ?? 0, mimeType: '' },
    },
    timings,
    serverIPAddress: request.remoteIp ?? '',
    _connectionId: request.connectionId,
    _resourceType: DEVTOOLS_TYPES[request.type] ?? request.type,
    _priority: urgency == null ? undefined : PRIORITIES[urgency],
    _renderBlocking:
      request.renderBlocking === null ? undefined : request.renderBlocking ? 'blocking' : 'non_blocking',
    _initiator: {
      type:
        initiator.kind === 'style' ? 'parser' : initiator.kind === 'navigation' ? 'other' : initiator.kind,
      ...(cause !== undefined && { url: cause }),
    },
  };
}

/** Without headers it would be open whether the response offered HTTP/3. */
function headersOf({ offersH3 }: RecordedRequest): { name: string; value: string }[] {
  if (offersH3 === null) return [];
  const cache = { name: 'cache-control', value: 'no-store' };
  return offersH3 ? [cache, { name: 'alt-svc', value: 'h3=":443"' }] : [cache];
}
