import type { Recording } from '@hopwise/contract';
import { InputError, placeOf, shown } from '../util/input-error.ts';
import { harForm } from './har/forms.ts';
import { type ReadRecording, readHar } from './har.ts';
import { refuseLargeJson } from './json-bytes.ts';
import { placeInJson } from './json-place.ts';
import { readLoadExport } from './load-export.ts';
import { isOwnRecording, readOwnRecording } from './own-recording.ts';
import { type DroppedEntries, usageNote } from './usage-note.ts';
import { isLoadExport } from './verification-file.ts';

/**
 * Reads a HAR (a file, or a log or entries as DevTools passes them to extensions), a hopwise recording, or the extension's export of a
 * load.
 *
 * @param input the file's text, or its parsed JSON
 * @throws InputError with one line that names the place and what was expected there
 */
export function parseRecording(input: unknown): Recording {
  return read(input).recording;
}

/**
 * As `parseRecording`, with the verification in an export, and notes for the user on what was taken of the input.
 *
 * @throws InputError with one line that names the place and what was expected there
 */
export function readRecording(input: unknown): ReadRecording {
  const { dropped, notes, ...found } = read(input);
  const usage = usageNote(found.recording, dropped);
  return { ...found, notes: usage === null ? notes : [...notes, usage] };
}

const NONE_DROPPED: DroppedEntries = { otherPages: 0, beforeNavigation: 0, otherSchemes: 0 };

function read(input: unknown): ReadRecording & { dropped: DroppedEntries } {
  const value = typeof input === 'string' ? parseJson(input) : input;
  if (isOwnRecording(value)) {
    const { recording, otherSchemes } = readOwnRecording(value);
    return { recording, notes: [], dropped: { ...NONE_DROPPED, otherSchemes } };
  }
  if (isLoadExport(value)) {
    const { recording, verification, otherSchemes } = readLoadExport(value);
    const dropped = { ...NONE_DROPPED, otherSchemes };
    return { recording, notes: [], dropped, ...(verification && { verification }) };
  }
  const form = harForm(value);
  if (form !== null) return readHar(form);
  throw new InputError(
    `top level: expected a HAR ("log"), its entries, a hopwise recording or an export of the extension, got ${shown(value)}`,
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
