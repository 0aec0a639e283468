/** What later loads need of a load: small, so that all of them can be read after each load. */
import { type Decision, PROTOCOLS, type RecordedRequest, type Recording } from '@hopwise/contract';
import { judgeLoad, type LoadKind } from './load-quality.ts';
import { predictionOf, type StoredLoad } from './stored-load.ts';
import { networkOf, type UsedNetwork } from './used-network.ts';

/** What follows from a load's requests, and from what is stored with it. */
interface SummaryFacts {
  kind: LoadKind;
  network: UsedNetwork;
  /** Whether there was a summary of its network from earlier loads. */
  hasCluster: boolean;
  isVerified: boolean;
  /** What was decided; null without a prediction. */
  decision: { kind: Decision['kind']; laterPltMs: number } | null;
  /** Origins of all requests. */
  origins: string[];
  /**
   * Responses that came over the network, in the order in which they were requested: three times the index of the origin, and that of the
   * protocol in `PROTOCOLS`.
   */
  responses: number[];
  /** Whether no server offered HTTP/3 as far as is known, nor was used over it. */
  offersNoH3: boolean;
  /** The shortest of its waits for a response, see `waitOf`. Absent in summaries that an earlier version stored. */
  waitMs?: number;
}

type Common =
  | 'id'
  | 'requestedUrl'
  | 'hidesQueries'
  | 'storedAtMs'
  | 'networkKey'
  | 'pinned'
  | 'isDetailed'
  | 'overlap';

/** Stored beside each load. Names what it has in common with the load as the load does. */
export interface LoadSummary extends Pick<StoredLoad, Common> {
  recording: Pick<Recording, 'url' | 'recordedAt' | 'pltMs'>;
  facts: SummaryFacts;
}

/** A load as far as it serves as evidence. */
export type KnownLoad = StoredLoad | LoadSummary;

export function summariseLoad(load: StoredLoad): LoadSummary {
  const { id, requestedUrl, hidesQueries, storedAtMs, networkKey, pinned, isDetailed, overlap, recording } =
    load;
  const { url, recordedAt, pltMs } = recording;
  return {
    ...{ id, requestedUrl, hidesQueries, storedAtMs, networkKey, pinned, isDetailed, overlap },
    recording: { url, recordedAt, pltMs },
    facts: factsOf(load),
  };
}

/** Facts of whole loads, which do not change: each is compared with all others, and its facts take a look at all of its requests. */
const derived = new WeakMap<StoredLoad, SummaryFacts>();

export function factsOf(load: KnownLoad): SummaryFacts {
  if ('facts' in load) return load.facts;
  const known = derived.get(load);
  if (known) return known;
  const facts = deriveFacts(load);
  derived.set(load, facts);
  return facts;
}

function deriveFacts(load: StoredLoad): SummaryFacts {
  const { requests } = load.recording;
  const origins = [...new Set(requests.map(originOf))];
  const indexOf = new Map(origins.map((origin, index) => [origin, index]));
  const received = requests.filter(cameOverNetwork);
  const decision = predictionOf(load)?.decision;
  return {
    kind: judgeLoad(load).kind,
    network: networkOf(load),
    hasCluster: Boolean(load.cluster),
    isVerified: load.verification !== null,
    decision: decision ? { kind: decision.kind, laterPltMs: decision.baseline.laterPltMs } : null,
    origins,
    responses: received
      .toSorted((a, b) => a.startMs - b.startMs)
      .map((request) => 3 * indexOf.get(originOf(request))! + PROTOCOLS.indexOf(request.protocol!)),
    offersNoH3: received.every(offersNoH3),
    waitMs: Math.min(...received.map(waitOf)),
  };
}

/** Shorter waits, milliseconds, were for this machine, as in `recording/path-round-trip.ts` of the emulator. */
const MIN_WAIT_MS = 1;

/** How long a request waited for its response, milliseconds, which is a round trip at least; infinite where that is not known. */
export function waitOf({ phases: { requestStartMs, responseStartMs } }: RecordedRequest): number {
  const waitMs = (responseStartMs ?? 0) - (requestStartMs ?? 0);
  return waitMs < MIN_WAIT_MS ? Infinity : waitMs;
}

/** The responses of a load that came over the network, in the order in which they were requested. */
export function listResponses(load: KnownLoad): { origin: string; protocol: (typeof PROTOCOLS)[number] }[] {
  const { origins, responses } = factsOf(load);
  return responses.map((code) => ({
    origin: origins[Math.floor(code / 3)]!,
    protocol: PROTOCOLS[code % 3]!,
  }));
}

const originOf = ({ url }: RecordedRequest): string => new URL(url).origin;

const cameOverNetwork = ({ fromCache, protocol }: RecordedRequest): boolean =>
  !fromCache && protocol !== null;

/** Browsers use HTTP/3 for https origins only. */
const offersNoH3 = ({ url, offersH3, protocol }: RecordedRequest): boolean =>
  (offersH3 === false || url.startsWith('http:')) && protocol !== 'h3';
