import * as z from 'zod/mini';
import { finishRequests, type RequestDraft, refuseTooMany } from './draft.ts';
import { harForm } from './har/forms.ts';
import { type ReadRecording, readHar } from './har.ts';
import { InputError, inputErrorFrom, placeOf, shown } from './input-error.ts';
import { refuseLargeJson } from './json-bytes.ts';
import { placeInJson } from './json-place.ts';
import type { Recording } from './recording.ts';

/** No time in milliseconds and no size in bytes of a page load is beyond this. */
const LARGEST = 1e10;
const ms = z.custom<number>((value) => typeof value === 'number' && Math.abs(value) <= LARGEST, 'a number');
const time = z.nullable(ms);
const bytes = z.nullable(
  z.custom<number>(
    (value) => typeof value === 'number' && value >= 0 && value <= LARGEST,
    'bytes, a number from 0',
  ),
);
const text = z.string('a string');
const oneOf = <const T extends string>(...values: T[]) => z.enum(values, `one of ${values.join(', ')}`);

const recordingSchema = z.object({
  format: z.literal('hopwise-recording'),
  version: z.literal(1, '1'),
  url: text,
  recordedAt: text,
  browser: text,
  pltMs: time,
  domContentLoadedMs: time,
  firstContentfulPaintMs: time,
  largestContentfulPaintMs: time,
  largestContentfulPaintUrl: z.optional(z.nullable(text)),
  requests: z.array(
    z.object(
      {
        id: z.int('a whole number'),
        url: text,
        method: text,
        type: oneOf(
          'document',
          'iframe',
          'style',
          'script',
          'font',
          'image',
          'media',
          'fetch',
          'beacon',
          'other',
        ),
        status: ms,
        protocol: z.nullable(oneOf('h1', 'h2', 'h3')),
        startMs: ms,
        endMs: ms,
        phases: z.object(
          {
            dnsStartMs: time,
            dnsEndMs: time,
            connectStartMs: time,
            secureStartMs: time,
            connectEndMs: time,
            requestStartMs: time,
            responseStartMs: time,
          },
          'an object',
        ),
        transferBytes: bytes,
        bodyBytes: bytes,
        decodedBytes: bytes,
        initiator: z.object(
          {
            kind: oneOf('navigation', 'parser', 'preload', 'script', 'style', 'redirect', 'other'),
            requestId: z.nullable(z.int('a whole number')),
            source: oneOf('recorded', 'inferred'),
          },
          'an object',
        ),
        renderBlocking: z.nullable(z.boolean('true or false')),
        fromCache: z.boolean('true or false'),
        connectionId: z.nullable(text),
        remoteIp: z.nullable(text),
        requestBodyBytes: z.optional(bytes),
        urgency: z.optional(
          z.nullable(z.int('a whole number').check(z.gte(0, '0 to 7'), z.lte(7, '0 to 7'))),
        ),
        offersH3: z.nullable(z.boolean('true or false')),
      },
      'an object',
    ),
    'an array of requests',
  ),
});

/**
 * Reads a HAR (a file, or a log or entries as DevTools give them to extensions) or a hopwise recording.
 *
 * @param input the file's text, or its parsed JSON
 * @throws InputError with one line that names the place and what was expected there
 */
export function parseRecording(input: unknown): Recording {
  return readRecording(input).recording;
}

/** As `parseRecording`, with notes for a person on how the input was taken. */
export function readRecording(input: unknown): ReadRecording {
  const value = typeof input === 'string' ? parseJson(input) : input;
  if (typeof value === 'object' && value !== null && 'format' in value) {
    if (value.format === 'hopwise-recording') {
      // Before the schema, which would gather all that is wrong with them.
      if ('requests' in value && Array.isArray(value.requests))
        refuseTooMany(value.requests.length, 'requests');
      return readOwn(value);
    }
  }
  const form = harForm(value);
  if (form !== null) return readHar(form);
  throw new InputError(
    `top level: expected a HAR ("log"), its entries or a hopwise recording, got ${shown(value)}`,
  );
}

function parseJson(text: string): unknown {
  // Some exporters begin with a byte order mark.
  const json = text.startsWith('\uFEFF') ? text.slice(1) : text;
  refuseLargeJson(json);
  try {
    return JSON.parse(json);
  } catch (error) {
    const { message } = error as Error;
    const position = / at position (\d+)/.exec(message)?.[1];
    const place = placeOf(placeInJson(json, position === undefined ? json.length : Number(position)));
    throw new InputError(`${place}: expected JSON, got ${oneLine(message)}`);
  }
}

function oneLine(text: string): string {
  // What V8 quotes of the input may be anything.
  const line = text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ');
  return line.length > 160 ? `${line.slice(0, 157)}…` : line;
}

function readOwn(input: unknown): ReadRecording {
  const parsed = recordingSchema.safeParse(input);
  if (!parsed.success) throw inputErrorFrom(parsed.error.issues, input);
  const { requests, ...recording } = parsed.data;
  for (const [index, { id }] of requests.entries()) {
    if (id !== index)
      throw new InputError(`requests[${index}].id: expected ${index}, its position, got ${id}`);
  }
  const drafts = requests.map(({ id: _, initiator, ...request }): RequestDraft => {
    const { requestId, ...rest } = initiator;
    return {
      ...request,
      endMs: Math.max(request.endMs, request.startMs),
      initiator: { ...rest, request: null },
    };
  });
  for (const [index, { initiator }] of requests.entries()) {
    if (initiator.requestId === null) continue;
    const asker = drafts[initiator.requestId];
    if (asker === undefined) {
      throw new InputError(
        `requests[${index}].initiator.requestId: expected a position in requests (0 to ${drafts.length - 1}), got ${initiator.requestId}`,
      );
    }
    drafts[index]!.initiator.request = asker;
  }
  return { recording: { ...recording, requests: finishRequests(drafts, 'requests') }, notes: [] };
}
