/** Transfers a page's resources under each protocol and reports the results. */
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  AddressSpace,
  Protocol,
  TransferPlan,
  UdpVerdict,
  Verification,
  VerifiedProtocol,
} from '@hopwise/contract';
import { PROTOCOL_NAME, PROTOCOLS } from '@hopwise/contract';
import { http3InstallHint } from '../base/install-hints.ts';
import { type NameServer, nameServers } from '../dns/dns-query.ts';
import { type Engine, EngineDiedError, engineLine, NoEngineError } from '../engine/engine.ts';
import type { RoundReport, RoundRequest, RoundTransferResult } from '../rounds/round.ts';
import { ByteBudget, UNSEEN_MARGIN } from './byte-budget.ts';
import { LIMITS, STOP_STATUSES } from './limits.ts';
import { OriginFigures } from './origin-figures.ts';
import { hasCredentials, readPlan } from './origins.ts';
import { ProbeError } from './probe-error.ts';
import { RecordLookups } from './record-lookups.ts';
import { roundPlan } from './round-plan.ts';
import { type Round, roundOf, summary, without } from './round-result.ts';
import { NO_OFFER, type OriginProfile, survey, withoutH3 } from './survey.ts';
import { udpVerdict } from './udp-verdict.ts';

export interface ProbeOptions {
  /** At least one. */
  protocols: readonly Protocol[];
  /** Maximum number of rounds; fewer where the budget is spent. */
  rounds: number;
  /** Maximum response bytes in all; null for three times the page's. */
  budgetBytes: number | null;
  /** Maximum duration, milliseconds; by default a minute per round, and at least ten minutes. */
  limitMs?: number;
  /** Resolvers for HTTPS records; by default the system's. */
  nameServers?: readonly NameServer[];
  onProgress?: (progress: ProbeProgress) => void;
  signal?: AbortSignal;
}

export interface ProbeProgress {
  doneTransfers: number;
  allTransfers: number;
  protocol: Protocol;
  /** Counted from 0. */
  round: number;
}

/** The order of the first rounds: if the budget ends early, HTTP/1.1 is the least informative. */
const ORDER: readonly Protocol[] = ['h2', 'h3', 'h1'];

/** A server that sends a byte now and then could prolong a probe for hours. */
const MIN_LIMIT_MS = 600_000;
const ROUND_LIMIT_MS = 60_000;

/** Pause between two rounds: queues drain, and servers get a rest. */
const PAUSE_MS = 150;

/**
 * Transfers the plan `rounds` times under each protocol, each time on fresh connections, the
 * protocols interleaved. An origin without the protocol is requested under the best that it has, as a
 * browser would; then `provedRequests` is below `answeredRequests`.
 *
 * @throws ProbeError when there is no result: `no-engine`, `engine-died`, `cancelled`, `budget` (of
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
    if (fault instanceof ProbeError) throw fault;
    if (options.signal?.aborted) throw cancelled();
    if (fault instanceof NoEngineError) throw new ProbeError('no-engine', fault.message);
    if (fault instanceof EngineDiedError) throw new ProbeError('engine-died', fault.message);
    throw fault;
  }
}

function cancelled(): ProbeError {
  return new ProbeError('cancelled', 'the probe was cancelled');
}

class Probe {
  readonly #engine: Engine;
  readonly #plan: TransferPlan;
  readonly #options: ProbeOptions;
  readonly #urls: URL[];
  readonly #limitMs: number;
  readonly #deadline: AbortSignal;
  readonly #protocols: Protocol[];
  readonly #unavailable = new Map<Protocol, string>();
  readonly #rounds = new Map<Protocol, Round[]>();
  #origins: ReturnType<typeof readPlan>['origins'];
  #profiles = new Map<string, OriginProfile>();
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
    this.#protocols = ORDER.filter((protocol) => options.protocols.includes(protocol));
    for (const protocol of this.#protocols) this.#rounds.set(protocol, []);
    const roundsMs = ROUND_LIMIT_MS * options.rounds * this.#protocols.length;
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
    if (!info.http2) this.#giveUp('h2', `libcurl ${info.version} has no HTTP/2: ${http3InstallHint()}`);
    if (!info.http3) this.#giveUp('h3', `libcurl ${info.version} has no HTTP/3: ${http3InstallHint()}`);
    await this.#survey(info.http3, lookups);
    for (let round = 0; round < this.#options.rounds && !this.#stopped; round += 1) {
      if (!this.#mayGoOn(round)) break;
      await this.#everyProtocol(round);
    }
    const finished = [...this.#rounds.values()].some((rounds) => rounds.length > 0);
    if (this.#stopped && !finished) throw new ProbeError(this.#stopCode, this.#stopped);
    return {
      pageUrl: this.#plan.pageUrl,
      engine: engineLine(info),
      startedAt,
      protocols: Object.fromEntries(
        PROTOCOLS.filter((protocol) => this.#rounds.has(protocol)).map((protocol) => [
          protocol,
          this.#outcome(protocol),
        ]),
      ) as Verification['protocols'],
      origins: this.#verifiedOrigins(lookups),
      udp: this.#udp(info.http3),
      bytes: this.#byteBudget.spentBytes,
      budgetBytes: this.#byteBudget.budgetBytes,
      leftOut: this.#leftOut.size,
      ...(this.#stopped ? { stopped: this.#stopped.slice(0, 512) } : {}),
    };
  }

  #stopCode: 'budget' | 'refused' = 'budget';

  #giveUp(protocol: Protocol, words: string): void {
    if (!this.#unavailable.has(protocol)) this.#unavailable.set(protocol, words.slice(0, 512));
  }

  #giveUpAll(page: URL, why: string): void {
    for (const protocol of this.#protocols) {
      this.#giveUp(protocol, `${page.origin} cannot be reached: ${why}`);
    }
  }

  async #survey(http3: boolean, lookups: RecordLookups): Promise<void> {
    const page = this.#urls[0]!;
    if (hasCredentials(page)) return this.#giveUpAll(page, 'its URL carries credentials');
    const wanted = this.#protocols.filter((protocol) => protocol !== 'h3' || http3);
    const { pageFrom, origins, reports } = await survey(
      this.#origins.values(),
      wanted,
      (origin) => lookups.of(origin),
      (request) => this.#runRound(request),
      this.#base(),
    );
    this.#profiles = origins;
    this.#pageFrom = pageFrom;
    for (const report of reports) this.#heed(report, report.results);
    if (this.#stopped) return;
    const profiles = [...origins.values()];
    const { unreachable } = origins.get(page.origin)!;
    if (unreachable) return this.#giveUpAll(page, unreachable);
    if (!profiles.some(({ speaksH2 }) => speaksH2)) {
      this.#giveUp('h2', 'no server of this page speaks HTTP/2: all of them chose HTTP/1.1');
    }
    this.#h3Worked = profiles.some(({ speaksH3 }) => speaksH3 === true);
    const h3Missing = withoutH3(profiles);
    if (h3Missing) this.#giveUp('h3', h3Missing);
  }

  get #wanted(): Protocol[] {
    return this.#protocols.filter((protocol) => !this.#unavailable.has(protocol));
  }

  /** Whether a round under each protocol fits. Only complete sets of rounds allow a comparison. */
  #mayGoOn(round: number): boolean {
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

  /** One round under each remaining protocol; the order rotates from set to set. */
  async #everyProtocol(round: number): Promise<void> {
    const all = this.#protocols;
    for (let turn = 0; turn < all.length; turn += 1) {
      const protocol = all[(turn + round) % all.length]!;
      if (this.#unavailable.has(protocol)) continue;
      const expected = this.#largestRoundBytes || this.#keptBytes();
      if (expected > this.#byteBudget.leftBytes) {
        this.#stopForBudget(expected);
        return;
      }
      await sleep(PAUSE_MS, undefined, { signal: this.#options.signal });
      const planned = roundPlan(this.#plan, protocol, {
        urls: this.#urls,
        profiles: this.#profiles,
        leftOut: this.#leftOut,
        byteBudget: this.#byteBudget,
      });
      const report = await this.#runRound(
        { ...this.#base(), pageFrom: this.#pageFrom, transfers: planned.transfers },
        { protocol, round },
      );
      this.#heed(report, report.results);
      if (report.ended === 'budget') this.#stopForBudget(Math.max(expected, report.bytes));
      if (this.#stopped) return;
      for (const result of report.results) result.index = planned.indices[result.index]!;
      this.#keep(protocol, round, report);
      if (!this.#sizesSeen) this.#learnSizes(protocol);
    }
  }

  /** The first round shows the size of the page: the remaining budget must suffice for the other protocols. */
  #learnSizes(protocol: Protocol): void {
    const [first] = this.#rounds.get(protocol)!;
    if (!first) return;
    this.#sizesSeen = true;
    this.#byteBudget.learn();
    for (const { index, bytes } of first.transfers) this.#sizes[index] = bytes;
    this.#leaveOut(this.#wanted.length - 1, 0);
    const kept = without(first, this.#leftOut);
    this.#rounds.set(protocol, [kept]);
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

  #keep(protocol: Protocol, round: number, report: RoundReport): void {
    const document = report.results.find(({ index }) => index === 0);
    if (document?.protocol === null || document === undefined) {
      if (round === 0) {
        this.#giveUp(
          protocol,
          `the document failed under ${PROTOCOL_NAME[protocol]}: ${document?.error ?? ''}`,
        );
        return;
      }
    }
    this.#largestRoundBytes = Math.max(this.#largestRoundBytes, report.bytes);
    if (report.results.some((result) => result.protocol === 'h3')) this.#h3Worked = true;
    this.#rounds.get(protocol)!.push(roundOf(report));
  }

  #base(): Omit<RoundRequest, 'transfers' | 'pageFrom'> {
    return {
      ...LIMITS,
      userAgent: this.#plan.userAgent,
      maxBytes: this.#byteBudget.leftBytes,
    };
  }

  async #runRound(request: RoundRequest, at?: { protocol: Protocol; round: number }): Promise<RoundReport> {
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
    const done = [...this.#rounds.values()].reduce((sum, rounds) => sum + rounds.length, 0);
    const wanted = this.#wanted.length * this.#options.rounds;
    const bytes = this.#largestRoundBytes || this.#keptBytes();
    // The round in progress counts with its full size.
    const affordable =
      bytes > 0 ? done + Math.max(1, Math.floor(this.#byteBudget.leftBytes / bytes)) : wanted;
    return Math.max(this.#doneTransfers, Math.min(wanted, affordable) * aRound);
  }

  /** Stops the probe when a server asks for fewer requests or the budget is spent. */
  #heed(report: RoundReport, results: RoundTransferResult[]): void {
    if (report.ended === 'stopped') {
      const last = results.find(({ status }) => STOP_STATUSES.includes(status))!;
      this.#stopCode = 'refused';
      this.#stopped = `a server answered ${last.status}, which asks for fewer requests: the probe stopped`;
    } else if (report.ended === 'budget') {
      this.#stopForBudget(report.bytes);
    }
  }

  #outcome(protocol: Protocol): VerifiedProtocol {
    const rounds = this.#rounds.get(protocol)!;
    const unmeasured = rounds.length === 0 ? this.#stopped : '';
    return summary(protocol, rounds, this.#unavailable.get(protocol) ?? unmeasured);
  }

  #verifiedOrigins(lookups: RecordLookups): Verification['origins'] {
    return [...this.#origins.values()].map(({ origin, host }) => {
      const profile = this.#profiles.get(origin);
      return {
        origin,
        unreachable: (profile?.unreachable ?? '').slice(0, 512),
        h3Offered: { altSvc: profile?.altSvc ?? [], httpsRecord: lookups.of(origin) },
        speaks: {
          h2: profile && !profile.unreachable ? profile.speaksH2 : null,
          h3: profile?.speaksH3 ?? null,
        },
        tcp: this.#figures.tcp(host),
        quic: this.#figures.quic(host),
      };
    });
  }

  #udp(http3: boolean): UdpVerdict {
    const tried = [...this.#profiles.values()].filter(({ speaksH3 }) => speaksH3 !== null);
    let untried = NO_OFFER;
    if (!http3) untried = 'this libcurl has no HTTP/3';
    else if (!this.#protocols.includes('h3')) untried = 'HTTP/3 was not requested';
    else if (this.#wanted.length === 0) untried = 'the page cannot be reached';
    return udpVerdict({
      untried,
      tried: tried.map(({ h3NoConnection }) => this.#h3Worked || !h3NoConnection),
      h2: this.#rounds.get('h2') ?? [],
      h3: this.#rounds.get('h3') ?? [],
      originOf: (index) => this.#urls[index]!.origin,
    });
  }
}
