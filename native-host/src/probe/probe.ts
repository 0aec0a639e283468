/** Transfers a page's resources under each protocol and reports the results. */
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  AddressSpace,
  OriginAbility,
  OriginUse,
  PlannedAssignment,
  Protocol,
  TransferPlan,
  UdpVerdict,
  Verification,
  VerifiedAssignment,
  VerifiedProtocol,
} from '@hopwise/contract';
import {
  areSameRounds,
  originUse,
  PROTOCOL_NAME,
  PROTOCOLS,
  removeUserinfo,
  uniformPlan,
} from '@hopwise/contract';
import { RequestError } from '../base/errors.ts';
import { http3InstallHint } from '../base/install-hints.ts';
import { CONNECT_TIMEOUT_MS } from '../curl/easy-options.ts';
import { type NameServer, nameServers } from '../dns/dns-query.ts';
import { type Engine, EngineDiedError, engineLine, NoEngineError } from '../engine/engine.ts';
import type { RoundReport, RoundRequest } from '../rounds/round.ts';
import { ByteBudget, UNSEEN_MARGIN } from './byte-budget.ts';
import { OriginFigures } from './origin-figures.ts';
import { hasCredentials, readPlan } from './origins.ts';
import { RecordLookups } from './record-lookups.ts';
import { roundPlan } from './round-plan.ts';
import { type RoundResult, roundOf, summary, without } from './round-result.ts';
import { inVain, type OriginProfile, survey, withoutH3 } from './survey.ts';
import { udpVerdict } from './udp-verdict.ts';

export interface ProbeOptions {
  /** At least one. */
  protocols: readonly Protocol[];
  /** Transferred as well, except those that lead to the same requests as one of `protocols`. */
  assignments?: readonly PlannedAssignment[] | undefined;
  /** Maximum number of rounds; fewer where the budget is spent. */
  rounds: number;
  /** Maximum response bytes in all; null for the page's bytes once for each kind of round, and at least three times. */
  budgetBytes: number | null;
  /** Whether the page's own server may have no address but a public one. */
  publicOnly?: boolean | undefined;
  /** Maximum duration, milliseconds; by default a minute per round, and at least ten minutes. */
  limitMs?: number;
  /** Resolvers for HTTPS records; by default the system's. */
  nameServers?: readonly NameServer[];
  onProgress?: (progress: ProbeProgress) => void;
  signal?: AbortSignal;
}

interface ProbeProgress {
  doneTransfers: number;
  allTransfers: number;
  /** null in rounds by an assignment. */
  protocol: Protocol | null;
  /** Counted from 0. */
  round: number;
}

/** Rounds of one protocol, or of one assignment. */
interface RoundKind {
  /** The protocol for every origin; null for an assignment. */
  protocol: Protocol | null;
  planned: PlannedAssignment;
  /** Why there are no rounds, '' when there may be. */
  unavailable: string;
  rounds: RoundResult[];
}

/** A server that answers so asks for fewer requests (RFC 6585 section 4; RFC 9110 section 15.6.4). */
const STOP_STATUSES = [429, 503];

/** Limits that keep a probe from burdening servers. */
const LIMITS = {
  connectTimeoutMs: CONNECT_TIMEOUT_MS,
  totalTimeoutMs: 60_000,
  stallSeconds: 15,
  stopOn: STOP_STATUSES,
};

/** The order of the first rounds: if the budget ends early, HTTP/1.1 is the least informative. */
const ORDER: readonly Protocol[] = ['h2', 'h3', 'h1'];

/** A server that sends a byte now and then could prolong a probe for hours. */
const MIN_LIMIT_MS = 600_000;
const ROUND_LIMIT_MS = 60_000;

/** Pause between two rounds: queues drain, and servers get a rest. */
const PAUSE_MS = 150;

/**
 * Transfers the plan `rounds` times under each protocol and each assignment, each time on fresh connections, the
 * kinds of rounds interleaved. An origin without the protocol is requested under the best that it has, as a
 * browser would; then `provedRequests` is below `answeredRequests`.
 *
 * @throws RequestError when there is no result: `no-engine`, `engine-died`, `cancelled`, `budget` (of
 *   bytes or of time) or `refused` before the first round was complete, `bad-message` for an impossible plan.
 */
export async function probe(
  engine: Engine,
  plan: TransferPlan,
  options: ProbeOptions,
): Promise<Verification> {
  try {
    return await new Probe(engine, plan, options).run();
  } catch (fault) {
    if (fault instanceof RequestError) throw fault;
    if (options.signal?.aborted) throw cancelled();
    if (fault instanceof NoEngineError) throw new RequestError('no-engine', fault.message);
    if (fault instanceof EngineDiedError) throw new RequestError('engine-died', fault.message);
    throw fault;
  }
}

function cancelled(): RequestError {
  return new RequestError('cancelled', 'the probe was cancelled');
}

class Probe {
  readonly #engine: Engine;
  readonly #plan: TransferPlan;
  readonly #options: ProbeOptions;
  readonly #urls: URL[];
  readonly #limitMs: number;
  readonly #deadline: AbortSignal;
  /** In the order of the first rounds; assignments are added after the survey. */
  readonly #kinds: RoundKind[];
  #origins: ReturnType<typeof readPlan>['origins'];
  #profiles = new Map<string, OriginProfile>();
  #abilities = new Map<string, OriginAbility>();
  #pageFrom: AddressSpace = 'public';
  readonly #byteBudget: ByteBudget;
  readonly #figures = new OriginFigures();
  /** Bytes of each transfer, as planned and later as received; 0 while not known. */
  readonly #sizes: number[];
  #sizesSeen = false;
  #leftOut: ReadonlySet<number> = new Set();
  #largestRoundBytes = 0;
  #doneTransfers = 0;
  #stopped = '';
  #h3Worked = false;

  constructor(engine: Engine, plan: TransferPlan, options: ProbeOptions) {
    this.#engine = engine;
    this.#plan = plan;
    this.#options = options;
    const { urls, origins } = readPlan(plan);
    this.#urls = urls;
    this.#origins = origins;
    this.#byteBudget = new ByteBudget(options.budgetBytes, plan.transfers);
    this.#sizes = plan.transfers.map(({ bytes }) => bytes);
    this.#kinds = ORDER.filter((protocol) => options.protocols.includes(protocol)).map((protocol) => ({
      protocol,
      planned: uniformPlan([...origins.values()], protocol),
      unavailable: '',
      rounds: [],
    }));
    const allKinds = this.#kinds.length + (options.assignments?.length ?? 0);
    const roundsMs = ROUND_LIMIT_MS * options.rounds * allKinds;
    this.#limitMs = options.limitMs ?? Math.max(MIN_LIMIT_MS, roundsMs);
    this.#deadline = AbortSignal.timeout(this.#limitMs);
  }

  async run(): Promise<Verification> {
    const startedAt = new Date().toISOString();
    const ended = new AbortController();
    const lookups = new RecordLookups(
      this.#origins.keys(),
      this.#options.nameServers ?? nameServers(),
      ended.signal,
    );
    try {
      return await this.#measure(startedAt, lookups);
    } finally {
      ended.abort();
    }
  }

  async #measure(startedAt: string, lookups: RecordLookups): Promise<Verification> {
    const info = await this.#engine.start();
    if (!info.http2)
      this.#markUnavailable('h2', `libcurl ${info.version} has no HTTP/2: ${http3InstallHint()}`);
    if (!info.http3)
      this.#markUnavailable('h3', `libcurl ${info.version} has no HTTP/3: ${http3InstallHint()}`);
    await this.#survey(info.http3, lookups);
    if (!this.#stopped) this.#addAssignments();
    for (let round = 0; round < this.#options.rounds && !this.#stopped; round += 1) {
      if (!this.#fitsBudget(round)) break;
      await this.#runEachKind(round);
    }
    const finished = this.#kinds.some(({ rounds }) => rounds.length > 0);
    if (this.#stopped && !finished) throw new RequestError(this.#stopCode, this.#stopped);
    return {
      pageUrl: removeUserinfo(this.#plan.pageUrl),
      engine: engineLine(info),
      startedAt,
      protocols: Object.fromEntries(
        PROTOCOLS.flatMap((protocol) => {
          const kind = this.#kindOf(protocol);
          return kind ? [[protocol, this.#summarise(kind)]] : [];
        }),
      ) as Verification['protocols'],
      assignments: this.#kinds
        .filter(({ protocol }) => protocol === null)
        .map((kind): VerifiedAssignment => ({ ...kind.planned, ...this.#summarise(kind) })),
      origins: this.#verifiedOrigins(lookups),
      randomLoss: this.#figures.randomLoss(),
      udp: this.#judgeUdp(info.http3),
      bytes: this.#byteBudget.spentBytes,
      budgetBytes: this.#byteBudget.budgetBytes,
      leftOut: this.#leftOut.size,
      ...(this.#stopped ? { stopped: this.#stopped.slice(0, 512) } : {}),
    };
  }

  #stopCode: 'budget' | 'refused' = 'budget';

  #kindOf(protocol: Protocol): RoundKind | undefined {
    return this.#kinds.find((kind) => kind.protocol === protocol);
  }

  #markUnavailable(protocol: Protocol, words: string): void {
    const kind = this.#kindOf(protocol);
    if (kind) kind.unavailable ||= words.slice(0, 512);
  }

  #markAllUnavailable(page: URL, why: string): void {
    for (const protocol of PROTOCOLS) {
      this.#markUnavailable(protocol, `${page.origin} cannot be reached: ${why}`);
    }
  }

  async #survey(http3: boolean, lookups: RecordLookups): Promise<void> {
    const page = this.#urls[0]!;
    if (hasCredentials(page)) return this.#markAllUnavailable(page, 'its URL carries credentials');
    const wanted = this.#requestedProtocols().filter((protocol) => protocol !== 'h3' || http3);
    const { pageFrom, origins, reports } = await survey({
      planned: this.#origins.values(),
      protocols: wanted,
      recordOf: (origin) => lookups.find(origin),
      run: (request) => this.#runRound(request),
      settings: this.#roundSettings(),
      reachesPage: this.#options.publicOnly ? 'public' : 'loopback',
    });
    this.#profiles = origins;
    this.#abilities = new Map(this.#originAbilities(lookups).map((ability) => [ability.origin, ability]));
    this.#pageFrom = pageFrom;
    for (const report of reports) this.#stopIfRefused(report);
    if (this.#stopped) return;
    const profiles = [...origins.values()];
    const { unreachable } = origins.get(page.origin)!;
    if (unreachable) return this.#markAllUnavailable(page, unreachable);
    if (!profiles.some(({ speaksH2 }) => speaksH2)) {
      this.#markUnavailable('h2', 'no server of this page speaks HTTP/2: all of them chose HTTP/1.1');
    }
    this.#h3Worked = profiles.some(({ speaksH3 }) => speaksH3 === true);
    const h3Missing = withoutH3(profiles);
    if (h3Missing) this.#markUnavailable('h3', h3Missing);
  }

  /** Protocols that rounds under one protocol or by an assignment need. */
  #requestedProtocols(): Protocol[] {
    const assigned = (this.#options.assignments ?? []).flatMap(({ assignment }) => Object.values(assignment));
    return PROTOCOLS.filter((protocol) => this.#kindOf(protocol) || assigned.includes(protocol));
  }

  /** Whether nothing is known of the page's own server, or that it cannot be reached. */
  #isPageUnreachable(): boolean {
    return this.#profiles.get(this.#urls[0]!.origin)?.unreachable !== '';
  }

  /** Adds the assignments that differ from one another and from the protocols that can carry the page. */
  #addAssignments(): void {
    if (this.#isPageUnreachable()) return;
    const abilities = [...this.#abilities.values()];
    for (const planned of this.#options.assignments ?? []) {
      if (this.#wanted.some((kind) => areSameRounds(abilities, kind.planned, planned))) continue;
      this.#kinds.push({ protocol: null, planned, unavailable: '', rounds: [] });
    }
    this.#byteBudget.allowRounds(this.#wanted.length);
  }

  get #wanted(): RoundKind[] {
    return this.#kinds.filter(({ unavailable }) => unavailable === '');
  }

  /** Whether a round of each kind fits. Only complete sets of rounds allow a comparison. */
  #fitsBudget(round: number): boolean {
    const all = this.#wanted.length;
    if (round > 0) {
      if (all * this.#largestRoundBytes <= this.#byteBudget.leftBytes) return true;
      if (this.#byteBudget.given) this.#stopForBudget(this.#largestRoundBytes);
      return false;
    }
    this.#leaveOut(all, UNSEEN_MARGIN);
    return true;
  }

  #leaveOut(rounds: number, margin: number): void {
    if (rounds === 0) return;
    const kept = this.#sizes.map((size, index) => (this.#leftOut.has(index) ? 0 : size));
    const more = this.#byteBudget.leaveOut(this.#plan.transfers, kept, rounds, margin);
    if (more) this.#leftOut = new Set([...this.#leftOut, ...more]);
  }

  /** One round of each remaining kind; the order rotates from set to set. */
  async #runEachKind(round: number): Promise<void> {
    const all = this.#kinds;
    for (let turn = 0; turn < all.length; turn += 1) {
      const kind = all[(turn + round) % all.length]!;
      if (kind.unavailable !== '') continue;
      const expected = this.#largestRoundBytes || this.#keptBytes();
      if (expected > this.#byteBudget.leftBytes) {
        this.#stopForBudget(expected);
        return;
      }
      await sleep(PAUSE_MS, undefined, { signal: this.#options.signal });
      const planned = roundPlan(this.#plan, (origin) => this.#findUse(origin, kind), {
        urls: this.#urls,
        profiles: this.#profiles,
        leftOut: this.#leftOut,
        byteBudget: this.#byteBudget,
      });
      const report = await this.#runRound(
        { ...this.#roundSettings(), pageFrom: this.#pageFrom, transfers: planned.transfers },
        { protocol: kind.protocol, round },
      );
      this.#stopIfRefused(report);
      if (report.ended === 'budget') this.#stopForBudget(Math.max(expected, report.bytes));
      if (this.#stopped) return;
      for (const result of report.results) result.index = planned.indices[result.index]!;
      this.#keepRound(kind, round, report);
      if (!this.#sizesSeen) this.#learnSizes(kind);
    }
  }

  /** The first round shows the size of the page: the remaining budget must suffice for the other kinds. */
  #learnSizes(kind: RoundKind): void {
    const [first] = kind.rounds;
    if (!first) return;
    this.#sizesSeen = true;
    this.#byteBudget.learn();
    for (const { index, bytes } of first.transfers) this.#sizes[index] = bytes;
    this.#leaveOut(this.#wanted.length - 1, 0);
    const kept = without(first, this.#leftOut);
    kind.rounds = [kept];
    this.#largestRoundBytes = kept.bytes;
  }

  #keptBytes(): number {
    return this.#sizes.reduce((total, size, index) => total + (this.#leftOut.has(index) ? 0 : size), 0);
  }

  #stopForBudget(roundBytes: number): void {
    const { budgetBytes, spentBytes } = this.#byteBudget;
    const round = roundBytes > 0 ? `a round takes about ${roundBytes}` : 'the first requests take more';
    this.#stopCode = 'budget';
    this.#stopped = `the budget of ${budgetBytes} bytes does not allow another round: ${spentBytes} are spent, ${round}`;
  }

  #stopForTime(): void {
    this.#stopCode = 'budget';
    this.#stopped = `the probe took longer than ${this.#limitMs / 1000} s: at least one server is slow`;
  }

  #keepRound(kind: RoundKind, round: number, report: RoundReport): void {
    const document = report.results.find(({ index }) => index === 0);
    if (document?.protocol === null || document === undefined) {
      if (round === 0) {
        const under = kind.protocol === null ? 'the assignment' : PROTOCOL_NAME[kind.protocol];
        kind.unavailable = `the document failed under ${under}: ${document?.error ?? ''}`.slice(0, 512);
        return;
      }
    }
    this.#largestRoundBytes = Math.max(this.#largestRoundBytes, report.bytes);
    if (report.results.some((result) => result.protocol === 'h3')) this.#h3Worked = true;
    kind.rounds.push(roundOf(report));
  }

  #roundSettings(): Omit<RoundRequest, 'transfers' | 'pageFrom'> {
    return {
      ...LIMITS,
      userAgent: this.#plan.userAgent,
      maxBytes: this.#byteBudget.leftBytes,
    };
  }

  async #runRound(
    request: RoundRequest,
    at?: Pick<ProbeProgress, 'protocol' | 'round'>,
  ): Promise<RoundReport> {
    const { signal, onProgress } = this.#options;
    // What the survey has spent so far counts against its next round.
    const report = await this.#engine.run(
      { ...request, maxBytes: this.#byteBudget.leftBytes },
      {
        signal: signal ? AbortSignal.any([signal, this.#deadline]) : this.#deadline,
        onResult: () => {
          if (!at) return;
          this.#doneTransfers += 1;
          onProgress?.({ doneTransfers: this.#doneTransfers, allTransfers: this.#allTransfers(), ...at });
        },
      },
    );
    this.#byteBudget.spentBytes += report.bytes;
    this.#figures.add(request, report);
    if (report.ended === 'cancelled') {
      if (signal?.aborted) throw cancelled();
      this.#stopForTime();
    }
    return report;
  }

  #allTransfers(): number {
    const aRound = this.#plan.transfers.length - this.#leftOut.size;
    const done = this.#kinds.reduce((sum, { rounds }) => sum + rounds.length, 0);
    const wanted = this.#wanted.length * this.#options.rounds;
    const bytes = this.#largestRoundBytes || this.#keptBytes();
    // The round in progress counts with its full size.
    const affordable =
      bytes > 0 ? done + Math.max(1, Math.floor(this.#byteBudget.leftBytes / bytes)) : wanted;
    return Math.max(this.#doneTransfers, Math.min(wanted, affordable) * aRound);
  }

  /** Stops the probe when a server asks for fewer requests or the budget is spent. */
  #stopIfRefused(report: RoundReport): void {
    if (report.ended === 'stopped') {
      const last = report.results.find(({ status }) => STOP_STATUSES.includes(status))!;
      this.#stopCode = 'refused';
      this.#stopped = `a server answered ${last.status}, which asks for fewer requests: the probe stopped`;
    } else if (report.ended === 'budget') {
      this.#stopForBudget(report.bytes);
    }
  }

  #findUse(origin: string, { planned }: RoundKind): OriginUse {
    const ability = this.#abilities.get(origin);
    // Without an ability its URL carries credentials, and is not requested.
    return ability ? originUse(ability, planned) : 'h1';
  }

  #summarise(kind: RoundKind): VerifiedProtocol {
    const { planned, rounds, unavailable } = kind;
    return summary(rounds, unavailable || (rounds.length === 0 ? this.#stopped : ''), (transfer) => {
      const { origin } = this.#urls[transfer.index]!;
      const isDiscovered = this.#findUse(origin, kind) === 'h3-once-offered';
      return isDiscovered || transfer.protocol === (planned.assignment[origin] ?? 'h2');
    });
  }

  #originAbilities(lookups: RecordLookups): OriginAbility[] {
    return [...this.#origins.keys()].map((origin) => {
      const profile = this.#profiles.get(origin);
      return {
        origin,
        h3Offered: { altSvc: profile?.altSvc ?? [], httpsRecord: lookups.find(origin) },
        speaks: {
          h2: profile && !profile.unreachable ? profile.speaksH2 : null,
          h3: profile?.speaksH3 ?? null,
        },
      };
    });
  }

  #verifiedOrigins(lookups: RecordLookups): Verification['origins'] {
    return this.#originAbilities(lookups).map((ability) => {
      const { host } = this.#origins.get(ability.origin)!;
      return {
        ...ability,
        unreachable: (this.#profiles.get(ability.origin)?.unreachable ?? '').slice(0, 512),
        tcp: this.#figures.tcp(host),
        quic: this.#figures.quic(host),
      };
    });
  }

  #judgeUdp(http3: boolean): UdpVerdict {
    const asked = [...this.#profiles.values()].filter(({ speaksH3 }) => speaksH3 !== null);
    const tried = asked.filter(({ h3Unsent }) => !h3Unsent);
    let untried = withoutH3(asked).slice(0, 512);
    if (!http3) untried = 'this libcurl has no HTTP/3';
    else if (!this.#requestedProtocols().includes('h3')) untried = 'HTTP/3 was not requested';
    else if (this.#wanted.length === 0 && this.#isPageUnreachable()) untried = 'the page cannot be reached';
    const refusing = tried.filter(({ h3Refused }) => h3Refused);
    return udpVerdict({
      untried,
      refused: refusing.length > 0 ? inVain(refusing) : '',
      tried: tried.map(({ h3NoConnection }) => this.#h3Worked || !h3NoConnection),
      h2: this.#kindOf('h2')?.rounds ?? [],
      h3: this.#kindOf('h3')?.rounds ?? [],
      originOf: (index) => this.#urls[index]!.origin,
    });
  }
}
