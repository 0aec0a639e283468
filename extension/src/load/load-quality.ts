import { median, type RecordedRequest } from '@hopwise/contract';
import type { StoredLoad } from './stored-load.ts';

/**
 * `full`: shows how long the page takes. `cached`: its document or much else came from the browser's cache, or was prefetched. `partial`: its
 * load event did not fire. `error`: the server answered with an error, whose page is another one, unless it always does (`answersAlike`). `form`: it is
 * the answer to a form, another page than its URL has without one; pages do not tell, so that detailed recordings alone show it. `background`: it was loaded in a hidden tab,
 * where browsers slow pages down. `disturbed`: requests failed, pins changed meanwhile, or it was much slower than the page's other loads, or beside
 * other traffic. `shared`: other tabs loaded too.
 */
export type LoadKind =
  | 'full'
  | 'cached'
  | 'partial'
  | 'error'
  | 'form'
  | 'background'
  | 'disturbed'
  | 'shared';

export interface LoadQuality {
  kind: LoadKind;
  /** Requests whose response came over the network. */
  networkRequests: number;
  requests: number;
}

/** A load of which less came over the network is cached: share of its requests, and of their bytes. */
const MIN_NETWORK_SHARE = 0.5;
/** A load of which more requests got no response is disturbed. */
const MAX_FAILED_SHARE = 0.1;

/** From here on answers are errors (RFC 9110, section 15), such as of a server that is busy, or first checks who asks. */
const MIN_ERROR_STATUS = 400;

/** What a stored load is good for. */
export function judgeLoad({
  recording,
  pinned,
  wasVisible,
  wasHidden,
  endedHidden,
  answersAlike,
}: JudgedLoad): LoadQuality {
  const { requests } = recording;
  const networkRequests = requests.filter(cameOverNetwork).length;
  const kindOf = (): LoadKind => {
    const { pltMs, firstContentfulPaintMs: paintMs } = recording;
    if (pltMs === null) return 'partial';
    const document = documentOf(recording);
    if (document && document.status >= MIN_ERROR_STATUS && !answersAlike) return 'error';
    if (document?.method === 'POST') return 'form';
    // Hidden pages are not painted: those that are shown at last are painted then.
    if (paintMs === null ? wasVisible === false || wasHidden : wasHidden && paintMs > pltMs)
      return 'background';
    // The person went to another tab meanwhile.
    if (endedHidden) return 'background';
    // Without the document's connection, round trip and the time that its server takes.
    if (document?.fromCache || networkShare(requests) < MIN_NETWORK_SHARE) return 'cached';
    const failed = requests.filter(({ status, fromCache }) => status === 0 && !fromCache).length;
    return pinned === null || failed > MAX_FAILED_SHARE * requests.length ? 'disturbed' : 'full';
  };
  return { kind: kindOf(), networkRequests, requests: requests.length };
}

type JudgedLoad = Pick<
  StoredLoad,
  'recording' | 'pinned' | 'wasVisible' | 'wasHidden' | 'endedHidden' | 'answersAlike'
>;

/** The request for a load's document, after redirects. */
export const documentOf = ({ requests }: StoredLoad['recording']): RecordedRequest | undefined =>
  requests.findLast(({ type }) => type === 'document');

/** A response whose headers alone were transferred confirms what is in the cache. */
function cameOverNetwork({ fromCache, transferBytes, bodyBytes }: RecordedRequest): boolean {
  return !fromCache && !(transferBytes !== null && bodyBytes !== null && transferBytes < bodyBytes);
}

/** The lesser of the shares of requests and of known bytes. */
function networkShare(requests: readonly RecordedRequest[]): number {
  if (requests.length === 0) return 1;
  const sent = requests.filter(cameOverNetwork);
  const all = sumBytes(requests);
  return Math.min(sent.length / requests.length, all === 0 ? 1 : sumBytes(sent) / all);
}

/** After decompression, because recordings have no bytes on the wire for what came from the cache. */
const sumBytes = (requests: readonly RecordedRequest[]) =>
  requests.reduce((sum, { bodyBytes, decodedBytes }) => sum + (decodedBytes ?? bodyBytes ?? 0), 0);

/**
 * A load shared its link if other tabs loaded for more of its time: where one of them gets half of the link, it takes a seventh longer than alone, as loads
 * also vary by chance (`LOAD_NOISE` of the emulator).
 */
const MAX_OVERLAP = 0.25;

/** Whether a load shared link and machine with those of other tabs. */
export const isShared = ({ overlap = 0 }: Pick<StoredLoad, 'overlap'>): boolean => overlap > MAX_OVERLAP;

/** A load that takes this many times as long as the median of the others was slowed by something of its own. */
const SLOWED = 3;
/** Fewer others do not show what is usual. */
const MIN_OTHERS = 3;

/** Whether a load was throttled, or shared the machine or the link with something else, judging by the page's other loads. */
export function isSlowed(pltMs: number, othersMs: readonly number[]): boolean {
  return othersMs.length >= MIN_OTHERS && pltMs > SLOWED * median(othersMs);
}
