/** Finds the protocols of each origin of a plan, by one request to each that ends with the response's headers. */
import { type AddressSpace, addressSpace, type H3Offer, h3Offers, type Protocol } from '@hopwise/contract';
import { CODE } from '../curl/curl-constants.ts';
import type { RoundReport, RoundRequest, RoundTransfer, RoundTransferResult } from '../rounds/round.ts';
import type { PlannedOrigin } from './origins.ts';
import type { HttpsRecord } from './record-lookups.ts';

/** An origin's capabilities, known before the rounds begin. */
export interface OriginProfile extends PlannedOrigin {
  /** Why it cannot be reached over TCP, '' when it can. */
  unreachable: string;
  speaksH2: boolean;
  /** Offers in its `Alt-Svc` field. */
  altSvc: H3Offer[];
  /** Whether `Alt-Svc` or its HTTPS record offers HTTP/3. */
  offersH3: boolean;
  /** null when it was not attempted. */
  speaksH3: boolean | null;
  /** libcurl's error message where HTTP/3 is offered and fails, else ''. */
  h3Error: string;
  /** Whether UDP caused that failure: no connection was established. */
  h3NoConnection: boolean;
  /** Whether nothing was sent, as the place that is offered has no address, or none that may be reached: this says nothing of UDP. */
  h3Unsent: boolean;
  /** Whether the server's UDP port is closed: its refusal (ICMP) shows that UDP reaches it. */
  h3Refused: boolean;
  /** CURLOPT_CONNECT_TO for an HTTP/3 offered elsewhere than on the origin itself, else ''. */
  h3ConnectTo: string;
}

interface Survey {
  /** Address space of the page: that of its own server. */
  pageFrom: AddressSpace;
  origins: Map<string, OriginProfile>;
  reports: RoundReport[];
}

type Learn = (profile: OriginProfile, result: RoundTransferResult) => void;
type RunRound = (request: RoundRequest) => Promise<RoundReport>;

/** Codes after which another HTTP version over TCP would fail as well. */
const NO_TCP: number[] = [
  CODE.COULDNT_RESOLVE_HOST,
  CODE.COULDNT_CONNECT,
  CODE.OPERATION_TIMEDOUT,
  CODE.ABORTED_BY_CALLBACK,
];

/** Codes of transfers for which nothing was sent. */
const NOTHING_SENT: number[] = [CODE.COULDNT_RESOLVE_HOST, CODE.ABORTED_BY_CALLBACK];

/** libcurl's words for a connection over UDP to which an ICMP message answered; it has no code of its own for that. */
const REFUSED = /\brefused\b/i;

/** What is surveyed, and how. */
interface SurveyQuestion {
  /** The page's own origin first. */
  planned: Iterable<PlannedOrigin>;
  protocols: readonly Protocol[];
  /** An origin's HTTPS record as far as it is known. */
  recordOf: (origin: string) => HttpsRecord;
  /** Runs a round; the survey ends when a report is not `whole`. */
  run: RunRound;
  /** The settings that all rounds share. */
  settings: Omit<RoundRequest, 'transfers' | 'pageFrom'>;
  /** Bounds the addresses of the page's own server. */
  reachesPage: AddressSpace;
}

/** Requests the page's own origin first: its address decides which others may be requested. */
export function survey(question: SurveyQuestion): Promise<Survey> {
  return new OriginSurvey(question).run();
}

class OriginSurvey {
  readonly #question: SurveyQuestion;
  /** The page's own origin first. */
  readonly #profiles: OriginProfile[];
  readonly #reports: RoundReport[] = [];
  #pageFrom: AddressSpace;
  #pageIp = '';

  constructor(question: SurveyQuestion) {
    this.#question = question;
    this.#profiles = Array.from(question.planned, unknownProfile);
    this.#pageFrom = question.reachesPage;
  }

  async run(): Promise<Survey> {
    if ((await this.#askPage()) && (await this.#askOverTcp(this.#profiles.slice(1)))) await this.#askOverH3();
    return {
      pageFrom: this.#pageFrom,
      origins: new Map(this.#profiles.map((profile) => [profile.origin, profile])),
      reports: this.#reports,
    };
  }

  /** @returns whether the survey may go on, as for the others */
  async #askPage(): Promise<boolean> {
    const isWhole = await this.#askOverTcp(this.#profiles.slice(0, 1));
    // Without its address no further round takes place.
    this.#pageFrom = this.#pageIp === '' ? 'public' : addressSpace(this.#pageIp);
    return isWhole;
  }

  async #askOverTcp(profiles: readonly OriginProfile[]): Promise<boolean> {
    // A server may fail over HTTP/2 only.
    const failed: OriginProfile[] = [];
    const isWhole = await this.#ask(profiles, 'h2', (profile, result) => {
      if (result.protocol === null && !NO_TCP.includes(result.code)) failed.push(profile);
      learnOfTcp(profile, result);
    });
    return isWhole && (await this.#ask(failed, 'h1', learnOfTcp));
  }

  async #askOverH3(): Promise<void> {
    const { protocols, recordOf } = this.#question;
    for (const profile of this.#profiles) learnOfOffers(profile, recordOf(profile.origin));
    if (!protocols.includes('h3')) return;
    const offering = this.#profiles.filter(({ offersH3 }) => offersH3);
    await this.#ask(offering, 'h3', learnOfH3);
  }

  async #ask(profiles: readonly OriginProfile[], protocol: Protocol, learn: Learn): Promise<boolean> {
    if (profiles.length === 0) return true;
    const { settings, run } = this.#question;
    const transfers = profiles.map((profile) => trial(profile, protocol));
    const report = await run({ ...settings, pageFrom: this.#pageFrom, transfers });
    this.#reports.push(report);
    for (const result of report.results) {
      const profile = profiles[result.index]!;
      if (profile === this.#profiles[0]) this.#pageIp ||= result.remoteIp;
      learn(profile, result);
    }
    return report.ended === 'whole';
  }
}

const unknownProfile = (origin: PlannedOrigin): OriginProfile => ({
  ...origin,
  unreachable: '',
  speaksH2: false,
  altSvc: [],
  offersH3: false,
  speaksH3: null,
  h3Error: '',
  h3NoConnection: false,
  h3Unsent: false,
  h3Refused: false,
  h3ConnectTo: '',
});

function learnOfTcp(profile: OriginProfile, result: RoundTransferResult): void {
  profile.unreachable = result.protocol === null ? result.error : '';
  profile.speaksH2 = result.protocol === 'h2';
  profile.altSvc = h3Offers(result.altSvc);
}

function learnOfH3(profile: OriginProfile, result: RoundTransferResult): void {
  profile.speaksH3 = result.protocol === 'h3';
  profile.h3Error = result.error;
  profile.h3Unsent = NOTHING_SENT.includes(result.code);
  profile.h3NoConnection = !profile.speaksH3 && result.handshakeMs === null && !profile.h3Unsent;
  profile.h3Refused = profile.h3NoConnection && REFUSED.test(result.error);
}

/** A browser that knows both uses `Alt-Svc`, which the server itself sent. */
function learnOfOffers(profile: OriginProfile, record: HttpsRecord): void {
  const colon = profile.host.lastIndexOf(':');
  const ownPort = Number(profile.host.slice(colon + 1));
  const { target, port, alpn } = record;
  const recorded = alpn.includes('h3') && port !== 0 ? { host: target, port: port ?? ownPort } : undefined;
  const offer = profile.altSvc[0] ?? recorded;
  if (!offer || profile.unreachable) return;
  profile.offersH3 = true;
  if (offer.host !== '' || offer.port !== ownPort) {
    profile.h3ConnectTo = `${profile.host}:${offer.host || profile.host.slice(0, colon)}:${offer.port}`;
  }
}

const NO_OFFER =
  'no server of this page offers HTTP/3: none names it in Alt-Svc, nor is it known from an HTTPS record';

/** Why no origin can be requested under HTTP/3, '' when one can. */
export function withoutH3(profiles: readonly OriginProfile[]): string {
  const offering = profiles.filter(({ offersH3 }) => offersH3);
  const failing = offering.find(({ speaksH3 }) => !speaksH3);
  if (!failing) return offering.length === 0 ? NO_OFFER : '';
  if (offering.some(({ speaksH3 }) => speaksH3)) return '';
  if (!offering.every(({ h3NoConnection }) => h3NoConnection)) {
    return `HTTP/3 is offered but fails at ${failing.origin}: ${failing.h3Error}`;
  }
  const refusing = offering.filter(({ h3Refused }) => h3Refused);
  if (refusing.length > 0) return inVain(refusing);
  const origins = offering.length === 1 ? '1 origin' : `${offering.length} origins`;
  return `UDP is blocked: HTTP/3 is offered by ${origins}, but no connection is established (${failing.h3Error})`;
}

/** Says that servers refuse the HTTP/3 that they offer. The path lets UDP through to them. */
export function inVain(refusing: readonly OriginProfile[]): string {
  const [first, ...more] = refusing.map(({ host, h3ConnectTo }) => ({
    host: withoutPort(host),
    h3ConnectTo,
  }));
  if (more.length > 0) {
    return `${refusing.length} servers offer HTTP/3 in vain, ${first!.host} among them: their UDP ports are closed`;
  }
  const elsewhere = first!.h3ConnectTo === '' ? 'its UDP port' : 'the UDP port that it names';
  return `${first!.host} offers HTTP/3 in vain: ${elsewhere} is closed`;
}

const withoutPort = (host: string): string => host.slice(0, host.lastIndexOf(':'));

function trial(profile: OriginProfile, protocol: Protocol): RoundTransfer {
  return {
    url: profile.url,
    host: profile.host,
    protocol,
    after: [],
    delayMs: 0,
    urgency: 0,
    incremental: false,
    accept: '*/*',
    connectTo: protocol === 'h3' ? profile.h3ConnectTo : '',
    onceOffered: null,
    headersOnly: true,
    maxBytes: null,
    refused: '',
  };
}
