import { jsonFault, type Recording, removeUserinfo, type Verification } from '@hopwise/contract';
import { InputError, placeOf, shown } from '../util/input-error.ts';
import { throttlingNote } from './browser-throttling.ts';
import { harForm } from './har/forms.ts';
import { type ReadOptions, refuseOtherPage } from './har/page-choice.ts';
import { objectOf } from './har/values.ts';
import { type ReadRecording, readHar } from './har.ts';
import { refuseLargeJson } from './json/json-limits.ts';
import { placeInJson } from './json/json-place.ts';
import { netLogAsHar } from './netlog/netlog-har.ts';
import { isOwnRecording, readOwnRecording } from './own-recording.ts';
import { traceAsHar } from './trace/trace-har.ts';
import { type DroppedEntries, usageNote } from './usage-note.ts';
import { isLoadExport, readVerification } from './verification-file.ts';

/**
 * Reads a HAR (a file, or a log or entries as DevTools passes them to extensions), a Chrome trace, a NetLog, a hopwise recording, or the
 * extension's export of a load.
 *
 * @param input the file's text, or its parsed JSON
 * @throws InputError with one line that names the place and what was expected there
 */
export function parseRecording(input: unknown): Recording {
  return read(input).recording;
}

/**
 * Does what `parseRecording` does, with the verification in an export, and notes for the user on what was taken of the input.
 *
 * @throws InputError with one line that names the place and what was expected there
 */
export function readRecording(input: unknown, options: ReadOptions = {}): ReadRecording {
  const { dropped, notes, ...found } = read(input, options);
  const more = [throttlingNote(found.recording), usageNote(found.recording, dropped)];
  return { ...found, notes: [...notes, ...more.filter((note) => note !== null)] };
}

/** Formats of others that people may take for recordings, by fields that each has. */
const OTHER_FORMATS: [name: string, fields: string[]][] = [
  ['a WebPageTest result: take its HAR (Export, or export.php)', ['data', 'statusCode']],
  ['a Lighthouse report, which has no times of requests', ['lighthouseVersion', 'audits']],
  ['a Firefox profile: take its HAR', ['meta', 'threads']],
  ['a Safari timeline: take its HAR', ['recording', 'overview']],
  ['a Charles session: export it as HAR', ['durations', 'times']],
  ['messages of the DevTools protocol: write a HAR from them by chrome-har', ['method', 'params']],
  ["a log of Selenium's driver: write a HAR from it by chrome-har", ['level', 'message']],
  ['requests of a Playwright trace: record a HAR (`recordHar`)', ['type', 'snapshot']],
];

function otherFormat(value: unknown): string | null {
  const object = objectOf(Array.isArray(value) ? value[0] : value) ?? {};
  return OTHER_FORMATS.find(([, fields]) => fields.every((field) => field in object))?.[0] ?? null;
}

const NONE_DROPPED: DroppedEntries = {
  unusable: { count: 0, first: null },
  copies: 0,
  notOfPages: 0,
  otherPages: 0,
  beforeNavigation: 0,
  afterEnd: 0,
  otherSchemes: 0,
};

interface FoundRecording extends ReadRecording {
  dropped: DroppedEntries;
}

function read(input: unknown, options: ReadOptions = {}): FoundRecording {
  const found = find(typeof input === 'string' ? parseJson(input) : input, options);
  return { ...found, recording: withoutUserinfo(found.recording) };
}

/** What is made of a recording, such as reports, must not repeat a password that someone typed into the address bar. */
function withoutUserinfo(recording: Recording): Recording {
  const { url, requests, largestContentfulPaintUrl } = recording;
  return {
    ...recording,
    url: removeUserinfo(url),
    requests: requests.map((request) => ({ ...request, url: removeUserinfo(request.url) })),
    ...(largestContentfulPaintUrl && {
      largestContentfulPaintUrl: removeUserinfo(largestContentfulPaintUrl),
    }),
  };
}

function find(value: unknown, options: ReadOptions): FoundRecording {
  if (isOwnRecording(value)) {
    const { recording, otherSchemes, notes } = readOwnRecording(value);
    refuseOtherPage(recording.url, options.page);
    return { recording, notes, dropped: { ...NONE_DROPPED, otherSchemes } };
  }
  if (isLoadExport(value)) {
    const { recording, verification, otherSchemes, notes } = readLoadExport(value);
    refuseOtherPage(recording.url, options.page);
    const dropped = { ...NONE_DROPPED, otherSchemes };
    return { recording, notes, dropped, ...(verification && { verification }) };
  }
  const form = traceAsHar(value) ?? netLogAsHar(value) ?? harForm(value);
  if (form !== null) return readHar(form, options);
  throw new InputError(
    `top level: expected a HAR ("log"), its entries, a Chrome trace, a NetLog, a hopwise recording or an export of the extension, got ${otherFormat(value) ?? shown(value)}`,
  );
}

/**
 * Reads what "Export JSON" of the extension saves: a recording and the verification of its load, where there was one. Predictions in
 * it are left out.
 *
 * @param load for which `isLoadExport` holds
 * @returns with how many requests were neither `http:` nor `https:` and are left out
 * @throws InputError naming the place of the first thing that cannot be used
 */
function readLoadExport(load: unknown): {
  recording: Recording;
  verification: Verification | null;
  otherSchemes: number;
  notes: string[];
} {
  const { recording, verification } = objectOf(load)!;
  if (!isOwnRecording(recording)) {
    throw new InputError(`recording: expected a hopwise recording, got ${shown(recording)}`);
  }
  return {
    ...readOwnRecording(recording, ['recording']),
    verification: verification == null ? null : readVerification(verification, ['verification']),
  };
}

function parseJson(text: string): unknown {
  const json = jsonIn(text);
  refuseLargeJson(json);
  try {
    return JSON.parse(withoutNaN(json));
  } catch (error) {
    const at = faultIn(json, error as Error);
    const place = placeOf(placeInJson(json, at));
    // Lines would be those of what was kept of the file.
    throw new InputError(`${place}: expected JSON, got ${jsonFault(json, error, at)}`);
  }
}

/** Characters before and after an unexpected one that V8 quotes. */
const QUOTED = 10;

/** Where a text stops being JSON. Of unexpected characters V8 gives no position, but what is around them; Firefox gives lines. */
function faultIn(json: string, { message }: Error): number {
  const [, position] = / at position (\d+)/.exec(message) ?? [];
  if (position !== undefined) return Number(position);
  const [, line, column] = / at line (\d+) column (\d+)/.exec(message) ?? [];
  if (line !== undefined) {
    const before = json.split('\n', Number(line) - 1);
    return before.reduce((at, each) => at + each.length + 1, Number(column) - 1);
  }
  const [, cut, around] =
    /^Unexpected token .*?, (\.\.\.)?"(.*)"(?:\.\.\.)? is not valid JSON$/s.exec(message) ?? [];
  if (around === undefined) return json.length;
  return cut === undefined ? 0 : json.indexOf(around) + QUOTED;
}

/** Quotes, escaped characters, and numbers of Python's `json.dumps` that JSON does not have. None is long: strings may be. */
const QUOTE_OR_NO_NUMBER = /"|\\.|-?\b(?:NaN|Infinity)\b/gs;

/** Writes `null` for numbers that JSON does not have. */
export function withoutNaN(json: string): string {
  if (!/[:,[\s-](?:NaN|Infinity)\b/.test(json)) return json;
  let isInString = false;
  return json.replace(QUOTE_OR_NO_NUMBER, (found) => {
    if (found === '"') isInString = !isInString;
    return isInString || found === '"' || found.startsWith('\\') ? found : 'null';
  });
}

/** HAR Viewer's HARP: a call of JavaScript, `onInputData({"log": …});`. */
const CALLBACK = /^\s*[A-Za-z_$][\w$.]{0,100}\s*\(/;

/** The JSON in a file's text: without a byte order mark, with which some exporters begin, or the JSONP call around it. */
export function jsonIn(text: string): string {
  const marked = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const [call] = CALLBACK.exec(marked) ?? [];
  if (call === undefined) return marked;
  const end = marked.lastIndexOf(')');
  return ['', ';'].includes(marked.slice(end + 1).trim()) ? marked.slice(call.length, end) : marked;
}
