import type { RecordedRequest, ResourceType } from '@hopwise/contract';
import { firstIndexWhere } from '../util/ordered.ts';
import { siteKey } from '../util/site.ts';
import { originOf } from '../util/url.ts';
import { isModule } from './module-scripts.ts';
import { responseBeginMs } from './response-arrival.ts';

/**
 * How soon a response leads to requests: their expected number, and the delays after its arrival, log-normal.
 */
interface Excitation {
  requests: number;
  medianMs: number;
  /** Standard deviation of the delay's logarithm. */
  spread: number;
}

/**
 * By type of the response and of the request. Delays are rounded from those between recorded initiators and requests in loads of
 * generated pages (medians of scripts' requests on fast networks: 7 to 47 ms); the numbers of requests are assumed.
 */
const EXCITATIONS: Partial<Record<ResourceType, Partial<Record<ResourceType, Excitation>>>> = {
  script: {
    script: { requests: 1, medianMs: 8, spread: 1.3 },
    fetch: { requests: 0.5, medianMs: 12, spread: 1.3 },
    image: { requests: 0.5, medianMs: 15, spread: 1.3 },
    beacon: { requests: 0.3, medianMs: 15, spread: 1.3 },
    iframe: { requests: 0.1, medianMs: 15, spread: 1.3 },
    style: { requests: 0.05, medianMs: 10, spread: 1.3 },
    font: { requests: 0.003, medianMs: 15, spread: 1.3 },
    media: { requests: 0.05, medianMs: 15, spread: 1.3 },
    other: { requests: 0.05, medianMs: 15, spread: 1.3 },
  },
  style: {
    style: { requests: 0.3, medianMs: 2, spread: 0.8 },
    font: { requests: 1, medianMs: 30, spread: 1.3 },
    image: { requests: 0.5, medianMs: 30, spread: 1.3 },
  },
  fetch: {
    fetch: { requests: 0.1, medianMs: 5, spread: 1.2 },
    image: { requests: 0.2, medianMs: 8, spread: 1.2 },
    script: { requests: 0.05, medianMs: 8, spread: 1.2 },
    media: { requests: 0.05, medianMs: 8, spread: 1.2 },
    beacon: { requests: 0.05, medianMs: 8, spread: 1.2 },
  },
};
/** A frame's parser finds what is in its document soon after each part of it arrives. */
const FRAME: Excitation = { requests: 1, medianMs: 10, spread: 0.6 };
/** Share of requests that come late, after other work or a timer; their delays are exponential. */
const DELAYED_SHARE = 0.2;
const DELAYED_MEAN_MS = 1_000;
/** Requests without a visible cause, by millisecond. */
const BACKGROUND_RATE = 1e-6;
/** Requests closer together than this usually have one cause. */
const BURST_MS = 3;
/** Further requests of a burst, by millisecond. */
const BURST_RATE = 0.3;
/** How much likelier a cause on the request's own origin is, */
const SAME_ORIGIN = 6;
/** and one on another origin of its site. */
const SAME_SITE = 3;
/** An answer leads to further requests less often than to a first one. */
const FURTHER_REQUEST = 0.3;
/** A module asks for modules. */
const OTHER_EXTENSION = 0.1;
/** A recorder that names the scripts behind images would probably have named this one's. */
const UNNAMED_SCRIPT = 0.05;
/**
 * How much rarer a cause is that the recorder does not name than one that it names: by this share, and by the share of all requests by
 * scripts for which it names that one, to this power. A helper is named for most of them; where the whole stack is recorded none is.
 * Chosen on the training split of emulated loads in both forms.
 */
const UNNAMED_SHARE = 0.3;
const NAMED_POWER = 4;
/** Fewer named requests than this hardly show whether the recorder names helpers. */
const FEW_NAMED = 4;
/** Requests of a type that scripts hardly make. */
const RARE: Pick<Excitation, 'requests'> = { requests: 0.05 };
/** Number of responses that are considered, the last ones to arrive. */
const MAX_CANDIDATES = 64;
/** Number of requests before and after another one that speak for its cause. */
const MAX_SIBLINGS = 16;

/**
 * Attributes requests to their likeliest causes: each response raises the rate of requests for some time after its arrival, each
 * request that of others at the same time (a Hawkes process; its branching structure is the graph: Marsan and Lengliné,
 * "Extending earthquakes' reach through cascading", Science 2008).
 */
export class LateCauses {
  /** In order of start. */
  readonly #requests: readonly RecordedRequest[];
  /** What each request's URL says, read once; by `RecordedRequest.id`. */
  readonly #places: Place[] = [];
  /** `RecordedRequest.id` of the document of the frame that made each request, `PAGE` for the page's own; by `RecordedRequest.id`. */
  readonly #makers: readonly number[];
  /** Responses that may lead to requests, in order of arrival. */
  readonly #responses: readonly RecordedRequest[];
  /** Stylesheets and blocking scripts, in order of arrival: layout waits for them. */
  readonly #blocking: readonly RecordedRequest[];
  /** Whether the recorder names the scripts that make requests for images. */
  readonly #namesScripts: boolean;
  /** See `namedShares`. */
  readonly #namedShare: ReadonlyMap<number, number>;
  /** Known causes, by `RecordedRequest.id`. */
  readonly #causes: Map<number, RecordedRequest>;
  /** The first request that a response is known to have led to. */
  readonly #firstOf = new Map<RecordedRequest, RecordedRequest>();
  /** Rates of requests like one at hand that responses lead to, by `RecordedRequest.id`; 0 between two requests. */
  readonly #rates: Float64Array;

  /**
   * @param requests in order of start
   * @param causes of those requests whose cause is known, by `RecordedRequest.id`
   */
  constructor(requests: readonly RecordedRequest[], causes: ReadonlyMap<number, RecordedRequest>) {
    this.#requests = requests;
    for (const request of requests) this.#places[request.id] = placeOf(request);
    this.#makers = makersOf(requests);
    this.#rates = new Float64Array(this.#places.length);
    this.#causes = new Map(causes);
    this.#namedShare = namedShares(requests);
    this.#namesScripts = requests.some(
      ({ type, initiator }) =>
        type === 'image' && initiator.kind === 'script' && initiator.source === 'recorded',
    );
    this.#responses = requests
      .filter(({ type }) => type === 'iframe' || EXCITATIONS[type] !== undefined)
      .sort((a, b) => arrivalOf(a) - arrivalOf(b) || a.id - b.id);
    this.#blocking = this.#responses.filter(
      ({ type, renderBlocking }) => renderBlocking === true || (type === 'style' && renderBlocking === null),
    );
  }

  /**
   * Attributes the other requests, twice, as each one's burst speaks for its cause.
   *
   * @param doubtful those other requests, with the response that is named as their cause but ended long before, if one is
   * @returns by `RecordedRequest.id`; without those that no response explains
   */
  attribute(
    doubtful: ReadonlyMap<RecordedRequest, RecordedRequest | null>,
  ): ReadonlyMap<number, RecordedRequest> {
    const found = new Map<number, RecordedRequest>();
    for (const request of this.#requests) {
      const cause = this.#causes.get(request.id);
      if (cause !== undefined) this.#firstOf.set(cause, this.#firstOf.get(cause) ?? request);
    }
    for (let pass = 0; pass < 2; pass++) {
      for (const [index, request] of this.#requests.entries()) {
        const named = doubtful.get(request);
        if (named === undefined) continue;
        const cause = this.#likeliest(request, index, named);
        if (cause === null) continue;
        found.set(request.id, cause);
        this.#causes.set(request.id, cause);
        this.#firstOf.set(cause, this.#firstOf.get(cause) ?? request);
      }
    }
    return found;
  }

  #likeliest(request: RecordedRequest, index: number, named: RecordedRequest | null): RecordedRequest | null {
    const rates = this.#rates;
    const raised: RecordedRequest[] = [];
    const unnamedShare =
      named === null ? 1 : UNNAMED_SHARE * (this.#namedShare.get(named.id) ?? 0) ** NAMED_POWER;
    const raise = (response: RecordedRequest, rate: number) => {
      if (rates[response.id] === 0) raised.push(response);
      const share = response === named || this.#mayBeAwaited(response, request) ? 1 : unnamedShare;
      rates[response.id]! += share * rate;
    };
    if (named !== null) raise(named, this.#rateAsNamed(named, request));
    const responses = this.#responses;
    const to = firstIndexWhere(responses, (response) => arrivalOf(response) > request.startMs);
    for (let at = to - 1; at >= Math.max(0, to - MAX_CANDIDATES); at--) {
      const response = responses[at]!;
      if (response.id < request.id && response !== named && this.#isSameFrame(response, request))
        raise(response, this.#rateOf(response, request, named !== null));
    }
    for (const sibling of this.#burstOf(request, index)) {
      const cause = this.#causes.get(sibling.id);
      if (cause === undefined || cause.id >= request.id || arrivalOf(cause) > request.startMs) continue;
      if (!this.#isSameFrame(cause, request)) continue;
      const excitation = excitationOf(cause, request);
      if (excitation === undefined) continue;
      const apartMs = Math.abs(request.startMs - sibling.startMs);
      raise(cause, (BURST_RATE * Math.min(1, excitation.requests)) / (1 + apartMs));
    }
    let likeliest = named;
    let highest = named === null ? BACKGROUND_RATE : rates[named.id]!;
    for (const response of raised) {
      const rate = rates[response.id]!;
      rates[response.id] = 0;
      if (rate <= highest) continue;
      likeliest = response;
      highest = rate;
    }
    return likeliest;
  }

  /** Whether the code that is named for a request also made the one that was answered: recorders name code, and no answer that it waits for. */
  #mayBeAwaited(answer: RecordedRequest, { initiator }: RecordedRequest): boolean {
    return (
      answer.type === 'fetch' &&
      answer.initiator.kind === 'script' &&
      answer.initiator.requestId === initiator.requestId
    );
  }

  /** Requests at about the same time. */
  #burstOf(request: RecordedRequest, index: number): RecordedRequest[] {
    const burst: RecordedRequest[] = [];
    for (const step of [-1, 1]) {
      let at = index + step;
      for (let count = 0; count < MAX_SIBLINGS; count++, at += step) {
        const sibling = this.#requests[at];
        if (sibling === undefined || Math.abs(sibling.startMs - request.startMs) > BURST_MS) break;
        burst.push(sibling);
      }
    }
    return burst;
  }

  /** Rate of requests like `request` that a response leads to, by millisecond. */
  #rateOf(response: RecordedRequest, request: RecordedRequest, isNamed: boolean): number {
    const excitation = excitationOf(response, request);
    if (excitation === undefined) return 0;
    const isLayout = response.type === 'style' && request.type !== 'style';
    const readyMs = isLayout ? this.#layoutMs(response, request.startMs) : arrivalOf(response);
    let rate = excitation.requests * delayDensity(request.startMs - readyMs, excitation);
    const from = this.#places[response.id]!;
    const to = this.#places[request.id]!;
    rate *= nearness(from, to);
    if (response.type === 'script' && request.type === 'image' && this.#namesScripts && !isNamed)
      rate *= UNNAMED_SCRIPT;
    if (response.type === 'fetch' && this.#hasOtherRequest(response, request)) rate *= FURTHER_REQUEST;
    if (response.type === 'script' && request.type === 'script' && from.isModule !== to.isModule) {
      rate *= OTHER_EXTENSION;
    }
    return rate;
  }

  /** Rate of requests that a document's or a script's code makes after other work or a timer, by millisecond. */
  #rateAsNamed(named: RecordedRequest, request: RecordedRequest): number {
    const { requests } = EXCITATIONS.script?.[request.type] ?? RARE;
    const late = Math.exp(-(request.startMs - named.endMs) / DELAYED_MEAN_MS) / DELAYED_MEAN_MS;
    return requests * DELAYED_SHARE * late * nearness(this.#places[named.id]!, this.#places[request.id]!);
  }

  /** Whether the code of a response runs in the frame that made a request: others could only send messages to it. */
  #isSameFrame(response: RecordedRequest, request: RecordedRequest): boolean {
    const frame = response.type === 'iframe' ? response.id : this.#makers[response.id]!;
    return frame === this.#makers[request.id]!;
  }

  #hasOtherRequest(response: RecordedRequest, request: RecordedRequest): boolean {
    const first = this.#firstOf.get(response);
    return first !== undefined && first !== request;
  }

  /** When all that layout waits for had arrived before `atMs`. */
  #layoutMs(style: RecordedRequest, atMs: number): number {
    const last = this.#blocking[firstIndexWhere(this.#blocking, ({ endMs }) => endMs > atMs) - 1];
    return Math.max(style.endMs, last?.endMs ?? 0);
  }
}

/** Stands for the page's own frame. */
const PAGE = -1;

/** The frame that made each request, as far as initiators name frames' documents; see `LateCauses`. */
function makersOf(requests: readonly RecordedRequest[]): number[] {
  const byId = new Map(requests.map((request) => [request.id, request]));
  const makers: number[] = [];
  for (const { id, initiator } of requests) {
    const from = initiator.requestId === null ? undefined : byId.get(initiator.requestId);
    if (from === undefined) makers[id] = PAGE;
    else makers[id] = from.type === 'iframe' ? from.id : (makers[from.id] ?? PAGE);
  }
  return makers;
}

/** Share of each initiator in the requests by scripts for which one is named or inferred, by `RecordedRequest.id`. */
function namedShares(requests: readonly RecordedRequest[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  let named = 0;
  for (const { initiator } of requests) {
    const { kind, requestId } = initiator;
    if (kind !== 'script' || requestId === null) continue;
    counts.set(requestId, (counts.get(requestId) ?? 0) + 1);
    named++;
  }
  return new Map([...counts].map(([id, count]) => [id, count / (named + FEW_NAMED)]));
}

interface Place {
  origin: string | null;
  /** `siteKey` of the URL. */
  site: ReturnType<typeof siteKey>;
  isModule: boolean;
}

/** How much likelier than one elsewhere a cause is at that place. */
function nearness(from: Place, to: Place): number {
  if (from.origin === to.origin) return SAME_ORIGIN;
  return from.site === to.site ? SAME_SITE : 1;
}

const placeOf = (request: RecordedRequest): Place => ({
  origin: originOf(request.url),
  site: siteKey(request.url),
  isModule: isModule(request),
});

function excitationOf(response: RecordedRequest, request: RecordedRequest): Excitation | undefined {
  return response.type === 'iframe' ? FRAME : EXCITATIONS[response.type]?.[request.type];
}

/** When a response can lead to requests: a document's parser works while it arrives. */
function arrivalOf(response: RecordedRequest): number {
  return response.type === 'iframe' ? responseBeginMs(response) : response.endMs;
}

/** By millisecond. */
function delayDensity(delayMs: number, { medianMs, spread }: Excitation): number {
  const ms = Math.max(0.5, delayMs);
  const z = Math.log(ms / medianMs) / spread;
  const soon = Math.exp((-z * z) / 2) / (ms * spread * Math.sqrt(2 * Math.PI));
  const delayed = Math.exp(-ms / DELAYED_MEAN_MS) / DELAYED_MEAN_MS;
  return (1 - DELAYED_SHARE) * soon + DELAYED_SHARE * delayed;
}
