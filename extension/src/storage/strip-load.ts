import type { Verification } from '@hopwise/contract';
import type { Prediction, Recording } from '@hopwise/pageload-emulator';
import type { StoredLoad } from './loads.ts';
import { maskQuery, maskUrlsInText, restoreQuery, UrlStripper } from './strip-urls.ts';

type LoadUrls = Pick<StoredLoad, 'requestedUrl' | 'recording'>;

/** A load whose URLs have been stripped. */
interface StrippedUrls extends LoadUrls {
  hidesQueries: boolean;
  /** Query strings by number, see `UrlStripper`; empty when they were kept in the URLs. */
  queries: string[];
}

/** Strips all URLs of a recording and its navigation, see `UrlStripper`. */
export function stripLoadUrls({ requestedUrl, recording }: LoadUrls, keepsQueries = false): StrippedUrls {
  const stripper = new UrlStripper(keepsQueries);
  const strip = (url: string) => stripper.strip(url);
  return {
    requestedUrl: strip(requestedUrl),
    recording: mapUrls(recording, strip),
    hidesQueries: stripper.queries.length > 0,
    queries: stripper.queries,
  };
}

/** Strips a load that was stored with query strings. Has no effect on one that was stored without. */
export function stripLoad(load: StoredLoad): StoredLoad {
  if (load.hidesQueries) return load;
  const { queries: _queries, ...urls } = stripLoadUrls(load);
  const { url } = urls.recording;
  return {
    ...load,
    ...urls,
    prediction: withPageUrl(load.prediction, url),
    problem: maskUrlsInText(load.problem),
    verification: load.verification && stripVerification(load.verification, url),
    verifiedPrediction: withPageUrl(load.verifiedPrediction, url),
  };
}

/** Puts back the query strings that `stripLoadUrls` replaced in a load. */
export function restoreLoad(load: StoredLoad, queries: readonly string[]): StoredLoad {
  const recording = restoreQueries(load.recording, queries);
  return {
    ...load,
    recording,
    requestedUrl: restoreQuery(load.requestedUrl, queries),
    hidesQueries: false,
    prediction: withPageUrl(load.prediction, recording.url),
    verification: load.verification && { ...load.verification, pageUrl: recording.url },
    verifiedPrediction: withPageUrl(load.verifiedPrediction, recording.url),
  };
}

/** Puts back the query strings that `stripLoadUrls` replaced in a recording. */
export function restoreQueries(recording: Recording, queries: readonly string[]): Recording {
  return mapUrls(recording, (url) => restoreQuery(url, queries));
}

/** What was observed, with empty query strings in all URLs. */
export function withoutQueries<T>(observed: T): T {
  return JSON.parse(JSON.stringify(observed), (_key, value) =>
    typeof value === 'string' && /^https?:/.test(value) ? maskQuery(value) : value,
  );
}

/** Whether any URL of a recording has a query string, replaced or not. */
export function hasQueries({ url, requests }: Recording): boolean {
  return url.includes('?') || requests.some((request) => request.url.includes('?'));
}

/** The verification with the stored URL of its page, and without query strings in what the helper reports. */
export function stripVerification(verification: Verification, pageUrl: string): Verification {
  const stripped: Verification = JSON.parse(JSON.stringify(verification), (_key, value) =>
    typeof value === 'string' ? maskUrlsInText(value) : value,
  );
  return { ...stripped, pageUrl };
}

/** The page's is the only URL of a prediction. */
function withPageUrl(prediction: Prediction | null, url: string): Prediction | null {
  return prediction && { ...prediction, page: { ...prediction.page, url } };
}

function mapUrls(recording: Recording, map: (url: string) => string): Recording {
  const { largestContentfulPaintUrl: paintUrl } = recording;
  return {
    ...recording,
    url: map(recording.url),
    requests: recording.requests.map((request) => ({ ...request, url: map(request.url) })),
    ...(paintUrl ? { largestContentfulPaintUrl: map(paintUrl) } : {}),
  };
}
