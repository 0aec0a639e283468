import type { Recording } from '@hopwise/contract';
import { InputError, placeOf, shown } from '../util/input-error.ts';
import { harForm } from './har/forms.ts';
import { type ReadRecording, readHar } from './har.ts';
import { refuseLargeJson } from './json-bytes.ts';
import { placeInJson } from './json-place.ts';
import { isOwnRecording, readOwnRecording } from './own-recording.ts';
import { type DroppedEntries, usageNote } from './usage-note.ts';

/**
 * Reads a HAR (a file, or a log or entries as DevTools passes them to extensions) or a hopwise recording.
 *
 * @param input the file's text, or its parsed JSON
 * @throws InputError with one line that names the place and what was expected there
 */
export function parseRecording(input: unknown): Recording {
  return read(input).recording;
}

/**
 * As `parseRecording`, with notes for the user on what was taken of the input.
 *
 * @throws InputError with one line that names the place and what was expected there
 */
export function readRecording(input: unknown): ReadRecording {
  const { recording, notes, dropped } = read(input);
  const usage = usageNote(recording, dropped);
  return { recording, notes: usage === null ? notes : [...notes, usage] };
}

function read(input: unknown): ReadRecording & { dropped: DroppedEntries } {
  const value = typeof input === 'string' ? parseJson(input) : input;
  if (isOwnRecording(value)) {
    const { recording, otherSchemes } = readOwnRecording(value);
    return { recording, notes: [], dropped: { otherPages: 0, beforeNavigation: 0, otherSchemes } };
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
  // V8 quotes the input, which may contain any characters.
  const line = text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ');
  return line.length > 160 ? `${line.slice(0, 157)}…` : line;
}
