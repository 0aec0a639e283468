import { CLOCK_SLACK_MS, NO_PHASES, type RecordedRequest, type Recording } from '@hopwise/contract';
import * as z from 'zod/mini';
import { InputError, inputErrorFrom, placeOf } from '../util/input-error.ts';
import { LARGEST_NUMBER, objectOf } from './har/values.ts';
import { documentOf, finishRequests, type RequestDraft, refuseTooMany } from './requests/draft.ts';
import { likelyType } from './requests/resource-type.ts';

const ms = z.custom<number>(
  (value) => typeof value === 'number' && Math.abs(value) <= LARGEST_NUMBER,
  'a number',
);
const size = z.custom<number>(
  (value) => typeof value === 'number' && value >= 0 && value <= LARGEST_NUMBER,
  'bytes, a number from 0',
);
const text = z.string('a string');
const flag = z.boolean('true or false');
const oneOf = <const T extends string>(...values: T[]) => z.enum(values, `one of ${values.join(', ')}`);
/** A field that may be missing when its value is not known. */
const known = <T extends z.core.SomeType>(schema: T) => z._default(z.nullable(schema), null);

const phasesSchema = z.object(
  {
    dnsStartMs: known(ms),
    dnsEndMs: known(ms),
    connectStartMs: known(ms),
    secureStartMs: known(ms),
    connectEndMs: known(ms),
    requestStartMs: known(ms),
    responseStartMs: known(ms),
  },
  'an object',
);

const initiatorSchema = z.object(
  {
    kind: z._default(
      oneOf('navigation', 'parser', 'preload', 'script', 'style', 'redirect', 'other'),
      'other',
    ),
    requestId: known(z.int('a whole number')),
    source: z._default(oneOf('recorded', 'inferred'), 'inferred'),
  },
  'an object',
);

const requestSchema = z.object(
  {
    id: z.optional(z.int('a whole number')),
    url: text,
    method: z._default(text, 'GET'),
    type: z.optional(
      oneOf('document', 'iframe', 'style', 'script', 'font', 'image', 'media', 'fetch', 'beacon', 'other'),
    ),
    // Without a status the request is taken to have been answered.
    status: z._default(ms, 200),
    protocol: known(oneOf('h1', 'h2', 'h3')),
    startMs: ms,
    endMs: ms,
    phases: z._default(phasesSchema, () => ({ ...NO_PHASES })),
    transferBytes: known(size),
    bodyBytes: known(size),
    decodedBytes: known(size),
    requestBodyBytes: z.optional(z.nullable(size)),
    requestBodyMs: z.optional(z.nullable(ms)),
    credentials: z.optional(z.nullable(flag)),
    initiator: z._default(initiatorSchema, { kind: 'other', requestId: null, source: 'inferred' }),
    renderBlocking: known(flag),
    fromCache: z._default(flag, false),
    connectionId: known(text),
    remoteIp: known(text),
    urgency: z.optional(z.nullable(z.int('a whole number').check(z.gte(0, '0 to 7'), z.lte(7, '0 to 7')))),
    offersH3: known(flag),
  },
  'an object',
);

const recordingSchema = z.object({
  format: z.literal('hopwise-recording'),
  version: z.literal(1, '1'),
  url: z.optional(text),
  recordedAt: z._default(text, ''),
  browser: z._default(text, ''),
  pltMs: known(ms),
  domContentLoadedMs: known(ms),
  firstContentfulPaintMs: known(ms),
  largestContentfulPaintMs: known(ms),
  largestContentfulPaintUrl: z.optional(z.nullable(text)),
  missing: z.optional(oneOf('load-event', 'navigation')),
  showsConnections: z.optional(flag),
  networkChanged: z.optional(flag),
  quicPackets: z.optional(z.object({ sent: size, lossEvents: size }, 'an object')),
  failedOver: z.optional(z.object({ h2: z.optional(size), h3: z.optional(size) }, 'an object')),
  requests: z.array(requestSchema, 'an array of requests'),
});

/** Whether the input claims to be a hopwise recording, valid or not. */
export function isOwnRecording(input: unknown): boolean {
  return objectOf(input)?.format === 'hopwise-recording';
}

/**
 * Reads a hopwise recording. A request must have a URL, `startMs` and `endMs`.
 *
 * @param place where `input` is in the file
 * @returns with how many requests were neither `http:` nor `https:` and are left out, and notes for the user
 * @throws InputError naming the place of the first thing that cannot be used
 */
export function readOwnRecording(
  input: unknown,
  place: readonly string[] = [],
): { recording: Recording; otherSchemes: number; notes: string[] } {
  const list = objectOf(input)?.requests;
  const requestsPlace = placeOf([...place, 'requests']);
  // Checked before the schema, which would collect an issue for each request.
  if (Array.isArray(list)) refuseTooMany(list.length, requestsPlace);
  const parsed = recordingSchema.safeParse(input);
  if (!parsed.success) throw inputErrorFrom(parsed.error.issues, input, place);
  const { requests, url, ...recording } = parsed.data;
  const drafts = requests.map(({ id, type, initiator, ...request }, index): RequestDraft => {
    if (id !== undefined && id !== index) {
      throw new InputError(`${requestsPlace}[${index}].id: expected ${index}, its position, got ${id}`);
    }
    const { requestId: _, ...rest } = initiator;
    return {
      ...request,
      type: type ?? (index === 0 ? 'document' : likelyType(null, request.url)),
      endMs: Math.max(request.endMs, request.startMs),
      initiator: { ...rest, request: null },
    };
  });
  for (const [index, { initiator }] of requests.entries()) {
    if (initiator.requestId === null) continue;
    const asker = drafts[initiator.requestId];
    if (asker === undefined) {
      throw new InputError(
        `${requestsPlace}[${index}].initiator.requestId: expected a position in requests (0 to ${drafts.length - 1}), got ${initiator.requestId}`,
      );
    }
    drafts[index]!.initiator.request = asker;
  }
  const finished = finishRequests(drafts, requestsPlace);
  const document = documentOf({ requests: finished });
  const read: Recording = { ...recording, url: url ?? document.url, requests: finished };
  const isEarly = recording.pltMs !== null && isBeforeFirstByte(recording.pltMs, document);
  return {
    recording: isEarly ? { ...read, pltMs: null, missing: 'load-event' } : read,
    otherSchemes: drafts.length - finished.length,
    notes: isEarly ? ['the load event in the file comes before the first byte of the page'] : [],
  };
}

/** Whether a load event is impossible, as where a script timed something else. */
function isBeforeFirstByte(loadMs: number, { fromCache, phases }: RecordedRequest): boolean {
  return !fromCache && loadMs + CLOCK_SLACK_MS < (phases.responseStartMs ?? 0);
}
