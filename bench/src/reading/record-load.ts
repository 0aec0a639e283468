/** An emulated load as a recorder of the browser's network stack would write it. */
import { NO_PHASES, type ResourceType } from '@hopwise/contract';
import {
  type Assignment,
  emulate,
  type FetchActivity,
  originOf,
  type Protocol,
  type RecordedRequest,
  type Recording,
} from '@hopwise/pageload-emulator';
import { hideDetails } from './light-recording.ts';
import { type TrueCell, uniform } from './true-load.ts';

/**
 * What a recorder names as the initiator of a script's request: `stack` the script that made it, also once it had an answer, `top` only the
 * function that called the browser, which on the page itself is often a helper in the document or in an early script. `light` is what the
 * extension records without `webRequest`, see `hideDetails`.
 */
export const FORMS = ['stack', 'top', 'light'] as const;
export type Form = (typeof FORMS)[number];

/** Seed of the recorded load's losses. */
const SEED = 7;

/** A connection of the load. */
interface Connection {
  name: string;
  openingMs: number;
  openMs: number;
  /** Whether a request showed its handshake. */
  isShown: boolean;
}

/** Records a load under one protocol for all origins. */
export const recordLoad = (cell: TrueCell, protocol: Protocol, form: Form): Recording =>
  recordLoadBy(cell, uniform(cell.graph, protocol), form);

/** Records a load as an assignment has it. All servers offer HTTP/3. @param seed of its losses */
export function recordLoadBy(cell: TrueCell, assignment: Assignment, form: Form, seed = SEED): Recording {
  const { graph, uploads } = cell;
  const { load, carrierOf } = emulateTraced(cell, assignment, seed);
  const ordered = load.entries.toSorted((a, b) => a.startMs - b.startMs || a.requestId - b.requestId);
  const fetches = ordered.map(({ requestId }) => graph.activities[requestId] as FetchActivity);
  const initiatorOf = findInitiators(cell, fetches, form);
  const requests = ordered.map((entry, id): RecordedRequest => {
    const { url, type, urgency, responseBytes } = fetches[id]!;
    const protocol = assignment[originOf(url)!]!;
    const carrier = carrierOf.get(fetches[id]!.requestId)!;
    return {
      id,
      url,
      method: uploads.has(url) ? 'POST' : 'GET',
      type,
      status: 200,
      protocol,
      startMs: entry.startMs,
      endMs: entry.endMs,
      phases: {
        ...handshakeOf(carrier, entry.startMs, entry.sentMs, protocol),
        requestStartMs: entry.sentMs,
        responseStartMs: entry.firstByteMs,
      },
      transferBytes: responseBytes,
      bodyBytes: responseBytes,
      decodedBytes: responseBytes,
      ...(uploads.has(url) && { requestBodyBytes: uploads.get(url)! }),
      initiator: { ...initiatorOf(id), source: 'recorded' },
      renderBlocking: renderBlockingOf(type, urgency),
      fromCache: false,
      connectionId: carrier.name,
      remoteIp: null,
      offersH3: true,
    };
  });
  const recording: Recording = {
    format: 'hopwise-recording',
    version: 1,
    url: graph.url,
    recordedAt: '2026-01-01T00:00:00.000Z',
    browser: 'emulated',
    pltMs: load.pltMs,
    domContentLoadedMs: null,
    firstContentfulPaintMs: null,
    largestContentfulPaintMs: null,
    requests,
  };
  return form === 'light' ? hideDetails(recording) : recording;
}

/** Emulates a load. @returns also the connection of each request, by the request's id */
function emulateTraced({ graph, path, servers }: TrueCell, assignment: Assignment, seed: number) {
  const connections = new Map<object, Connection>();
  const carrierOf = new Map<number, Connection>();
  const load = emulate(graph, path, servers, assignment, {
    seed,
    waterfall: true,
    trace: {
      opening: (connection, nowMs) =>
        connections.set(connection, {
          name: `${connections.size + 1}`,
          openingMs: nowMs,
          openMs: nowMs,
          isShown: false,
        }),
      open: (connection, nowMs) => {
        connections.get(connection)!.openMs = nowMs;
      },
      request: (connection, { id }) => carrierOf.set(id, connections.get(connection)!),
      lost: () => undefined,
      timeout: () => undefined,
      released: () => undefined,
    },
  });
  return { load, carrierOf };
}

/**
 * Finds what a recorder names as the initiators of a load's requests.
 *
 * @param fetches in the order in which they start, which their requests' ids are
 */
function findInitiators(
  { name, known }: TrueCell,
  fetches: readonly FetchActivity[],
  form: Form,
): (id: number) => Pick<RecordedRequest['initiator'], 'kind' | 'requestId'> {
  const requestOf = new Map(fetches.map(({ url }, id) => [url, id]));
  const helper = fetches.findIndex(({ type }) => type === 'script');
  // Every second page has its helper in a script, the others in the document.
  const helperId = helper < 0 || name.endsWith('1') ? 0 : helper;
  /** The script or document whose code makes a request, also where it waits for an answer: no recorder names that. */
  const codeOf = (url: string): string => {
    const { parent, means } = known.get(url)!;
    return means === 'answer' ? codeOf(parent!) : parent!;
  };
  /** Whether a request is made in a frame, whose code has helpers of its own and seldom those of the page. */
  const isInFrame = (url: string): boolean => {
    const { parent } = known.get(url)!;
    if (parent === null) return false;
    return fetches[requestOf.get(parent)!]!.type === 'iframe' || isInFrame(parent);
  };
  return (id) => {
    const { url } = fetches[id]!;
    const { parent, means } = known.get(url)!;
    const byScript = means === 'script' || means === 'answer';
    const asked = parent === null ? null : requestOf.get(means === 'answer' ? codeOf(url) : parent)!;
    return {
      kind: asked === null ? 'navigation' : byScript ? 'script' : means === 'style' ? 'style' : 'parser',
      requestId: byScript && form === 'top' && helperId < id && !isInFrame(url) ? helperId : asked,
    };
  };
}

/** As Chromium's Resource Timing has it: scripts of low priority, `async` or inserted by others, block no rendering. */
function renderBlockingOf(type: ResourceType, urgency: number): boolean | null {
  if (type === 'style') return true;
  return type === 'script' && urgency > 1 ? false : null;
}

type Handshake = Omit<RecordedRequest['phases'], 'requestStartMs' | 'responseStartMs'>;

/** The handshake as the first request on the connection shows it: clipped to the request's own time. */
function handshakeOf(connection: Connection, startMs: number, sentMs: number, protocol: Protocol): Handshake {
  const { openingMs, openMs, isShown } = connection;
  connection.isShown = true;
  if (isShown || openMs <= startMs || openMs > sentMs) return NO_PHASES;
  const clipped = (ms: number) => Math.max(startMs, ms);
  const secureMs = protocol === 'h3' ? openingMs : (openingMs + openMs) / 2;
  return {
    dnsStartMs: clipped(openingMs),
    dnsEndMs: clipped(openingMs),
    connectStartMs: clipped(openingMs),
    secureStartMs: clipped(secureMs),
    connectEndMs: openMs,
  };
}
