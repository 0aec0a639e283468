/** Transfers a page's resources under each protocol and tells what came of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Protocol, TransferPlan, Verification, VerifiedProtocol } from '@hopwise/native-host/messages';
import { PROTOCOLS } from '@hopwise/native-host/messages';
import type { AddressSpace } from '../engine/address-space.ts';
import { type Engine, EngineDiedError, engineLine, NoEngineError } from '../engine/engine.ts';
import { http3Mend } from '../engine/mend.ts';
import type { RoundReport, RoundRequest, RoundTransfer, RoundTransferResult } from '../engine/round.ts';
import { PROTOCOL_NAME } from '../protocol.ts';
import { hasCredentials, hostOf, readPlan } from './origins.ts';
import { ProbeError } from './probe-error.ts';
import { type OriginProfile, survey } from './survey.ts';

export interface ProbeOptions {
  /** At least one; tried in the order of `PROTOCOLS`. */
  protocols: readonly Protocol[];
  rounds: number;
  /** Most response bytes in all. */
  budgetBytes: number;
  /** Most milliseconds in all; a minute a round and at least ten when not given. */
  limitMs?: number;
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

type Round = VerifiedProtocol['rounds'][number];

/** A server that sends a byte now and then would hold a probe for hours. */
const LEAST_LIMIT_MS = 600_000;
const ROUND_LIMIT_MS = 60_000;

/** Rest between two rounds: queues drain, servers breathe. */
const PAUSE_MS = 150;

/** A server that answers so asks for fewer requests (RFC 6585 section 4; RFC 9110 section 15.6.4). */
const STOP_STATUSES = [429, 503];

const LIMITS = {
  // Blocked UDP shows as silence: a QUIC handshake that has not come about in 5 s will not.
  connectTimeoutMs: { h1: 10_000, h2: 10_000, h3: 5_000 },
  totalTimeoutMs: 60_000,
  stallSeconds: 15,
  stopOn: STOP_STATUSES,
};

/**
 * Transfers the plan `rounds` times under each protocol, each time on fresh connections, the
 * protocols interleaved. An origin without the protocol is asked under the best that it has, as a
 * browser would; `provedRequests` below `answeredRequests` tells so.
 *
 * @throws ProbeError when there is no result: `no-engine`, `engine-died`, `cancelled`, `budget` (of
 *   bytes or of time) or `refused` before the first round was whole, `bad-message` for an impossible plan.
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
  #spentBytes = 0;
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
    this.#protocols = PROTOCOLS.filter((protocol) => options.protocols.includes(protocol));
    for (const protocol of this.#protocols) this.#rounds.set(protocol, []);
    const roundsMs = ROUND_LIMIT_MS * options.rounds * this.#protocols.length;
    this.#limitMs = options.limitMs ?? Math.max(LEAST_LIMIT_MS, roundsMs);
    this.#deadline = AbortSignal.timeout(this.#limitMs);
  }

  async run(): Promise<Verification> {
    const startedAt = new Date().toISOString();
    const info = await this.#engine.start();
    if (!info.http2) this.#giveUp('h2', `libcurl ${info.version} has no HTTP/2: ${http3Mend()}`);
    if (!info.http3) this.#giveUp('h3', `libcurl ${info.version} has no HTTP/3: ${http3Mend()}`);
    await this.#survey(info.http3);
    for (let round = 0; round < this.#options.rounds && !this.#stopped; round += 1) {
      await this.#everyProtocol(round);
    }
    const finished = [...this.#rounds.values()].some((rounds) => rounds.length > 0);
    if (this.#stopped && !finished) throw new ProbeError(this.#stopCode, this.#stopped);
    return {
      pageUrl: this.#plan.pageUrl,
      engine: engineLine(info),
      startedAt,
      protocols: Object.fromEntries(
        this.#protocols.map((protocol) => [protocol, this.#summary(protocol)]),
      ) as Verification['protocols'],
      udp: this.#udp(),
      bytes: this.#spentBytes,
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

  async #survey(http3: boolean): Promise<void> {
    const page = this.#urls[0]!;
    if (hasCredentials(page)) return this.#giveUpAll(page, 'its URL carries credentials');
    const wanted = this.#protocols.filter((protocol) => protocol !== 'h3' || http3);
    const { pageFrom, origins, reports } = await survey(
      this.#origins.values(),
      wanted,
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
    const offering = profiles.filter(({ offersH3 }) => offersH3);
    const failing = offering.find(({ speaksH3 }) => !speaksH3);
    this.#h3Worked = offering.some(({ speaksH3 }) => speaksH3);
    if (offering.length === 0) {
      this.#giveUp('h3', 'no server of this page offers HTTP/3: none names it in Alt-Svc');
    } else if (!this.#h3Worked && offering.every(({ h3NoConnection }) => h3NoConnection)) {
      this.#giveUp(
        'h3',
        `UDP is blocked: HTTP/3 is offered by ${origins_(offering.length)}, but no connection comes about (${failing!.h3Error})`,
      );
    } else if (!this.#h3Worked) {
      this.#giveUp('h3', `HTTP/3 is offered but fails at ${failing!.origin}: ${failing!.h3Error}`);
    }
  }

  /** One round under each protocol that is left; the first to go changes from round to round. */
  async #everyProtocol(round: number): Promise<void> {
    const all = this.#protocols;
    for (let turn = 0; turn < all.length; turn += 1) {
      const protocol = all[(turn + round) % all.length]!;
      if (this.#unavailable.has(protocol)) continue;
      const expected = this.#largestRoundBytes || sum(this.#plan.transfers.map(({ bytes }) => bytes));
      if (this.#spentBytes + expected > this.#options.budgetBytes) {
        this.#stopForBudget(expected);
        return;
      }
      await sleep(PAUSE_MS, undefined, { signal: this.#options.signal });
      const report = await this.#runRound(
        { ...this.#base(), pageFrom: this.#pageFrom, transfers: this.#transfers(protocol) },
        { protocol, round },
      );
      this.#heed(report, report.results);
      if (report.ended === 'budget') this.#stopForBudget(Math.max(expected, report.bytes));
      if (this.#stopped) return;
      this.#keep(protocol, round, report);
    }
  }

  #stopForBudget(roundBytes: number): void {
    this.#stopCode = 'budget';
    this.#stopped =
      `the budget of ${this.#options.budgetBytes} bytes does not allow another round: ` +
      `${this.#spentBytes} are spent, a round takes about ${roundBytes}`;
  }

  #stopForTime(): void {
    this.#stopCode = 'budget';
    this.#stopped = `the probe took longer than ${this.#limitMs / 1000} s: a server is slow, or many are`;
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
      maxBytes: Math.max(0, this.#options.budgetBytes - this.#spentBytes),
    };
  }

  #transfers(protocol: Protocol): RoundTransfer[] {
    return this.#plan.transfers.map((planned, index) => {
      const url = this.#urls[index]!;
      const profile = this.#profiles.get(url.origin);
      const used = profile ? bestOf(profile, protocol) : protocol;
      return {
        url: url.href,
        host: hostOf(url),
        protocol: used,
        after: planned.after,
        delayMs: planned.delayMs,
        urgency: planned.urgency,
        incremental: planned.incremental,
        accept: planned.accept,
        connectTo: used === 'h3' ? (profile?.h3ConnectTo ?? '') : '',
        headersOnly: false,
        refused: hasCredentials(url) ? 'URLs with credentials are not fetched' : (profile?.unreachable ?? ''),
      };
    });
  }

  async #runRound(request: RoundRequest, at?: { protocol: Protocol; round: number }): Promise<RoundReport> {
    const { signal, onProgress } = this.#options;
    // What the survey has spent counts for its next round too.
    const maxBytes = Math.max(0, this.#options.budgetBytes - this.#spentBytes);
    const report = await this.#engine.run(
      { ...request, maxBytes },
      {
        signal: signal ? AbortSignal.any([signal, this.#deadline]) : this.#deadline,
        onResult: () => {
          if (!at) return;
          this.#doneTransfers += 1;
          onProgress?.({ doneTransfers: this.#doneTransfers, allTransfers: this.#allTransfers(), ...at });
        },
      },
    );
    this.#spentBytes += report.bytes;
    if (report.ended === 'cancelled') {
      if (signal?.aborted) throw cancelled();
      this.#stopForTime();
    }
    return report;
  }

  #allTransfers(): number {
    const left = this.#protocols.filter((protocol) => !this.#unavailable.has(protocol)).length;
    return Math.max(this.#doneTransfers, left * this.#options.rounds * this.#plan.transfers.length);
  }

  /** Stops for good where a server asks for restraint or the budget is spent. */
  #heed(report: RoundReport, results: RoundTransferResult[]): void {
    if (report.ended === 'stopped') {
      const last = results.find(({ status }) => STOP_STATUSES.includes(status))!;
      this.#stopCode = 'refused';
      this.#stopped = `a server answered ${last.status}, which asks for fewer requests: the probe stopped`;
    } else if (report.ended === 'budget') {
      this.#stopForBudget(report.bytes);
    }
  }

  #summary(protocol: Protocol): VerifiedProtocol {
    const rounds = this.#rounds.get(protocol)!;
    const answered = rounds.flatMap(({ transfers }) =>
      transfers.filter((transfer) => transfer.protocol !== null),
    );
    const totals = rounds
      .filter(({ transfers }) => transfers[0]?.index === 0 && transfers[0].protocol !== null)
      .map(({ totalMs }) => totalMs)
      .sort((a, b) => a - b);
    const unmeasured = rounds.length === 0 ? this.#stopped : '';
    return {
      unavailable: (this.#unavailable.get(protocol) ?? unmeasured).slice(0, 512),
      rounds,
      medianMs: median(totals),
      lowMs: totals[0] ?? null,
      highMs: totals.at(-1) ?? null,
      provedRequests: answered.filter((transfer) => transfer.protocol === protocol).length,
      answeredRequests: answered.length,
    };
  }

  #udp(): Verification['udp'] {
    if (this.#h3Worked) return 'open';
    const offering = [...this.#profiles.values()].filter(({ offersH3 }) => offersH3);
    const tried = offering.filter(({ h3Error }) => h3Error !== '');
    if (tried.length > 0 && tried.every(({ h3NoConnection }) => h3NoConnection)) return 'blocked';
    return 'unknown';
  }
}

/** What a browser that prefers `protocol` would use with this origin. */
function bestOf(profile: OriginProfile, protocol: Protocol): Protocol {
  if (protocol === 'h3' && profile.speaksH3) return 'h3';
  return protocol !== 'h1' && profile.speaksH2 ? 'h2' : 'h1';
}

function roundOf(report: RoundReport): Round {
  const transfers = [...report.results]
    .sort((a, b) => a.index - b.index)
    .map(({ code: _code, altSvc: _altSvc, remoteIp: _remoteIp, error, ...result }) => ({
      ...result,
      error: error.slice(0, 512),
    }));
  return {
    totalMs: Math.max(0, ...transfers.map(({ endMs }) => endMs)),
    bytes: report.bytes,
    failed: transfers.filter(({ error }) => error !== '').length,
    minRttMs: report.minRttMs,
    lossEvents: report.lossEvents,
    segmentsIn: report.segmentsIn,
    transfers,
  };
}

function origins_(count: number): string {
  return count === 1 ? '1 origin' : `${count} origins`;
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Of numbers in ascending order; null of none. */
function median(sorted: number[]): number | null {
  if (sorted.length === 0) return null;
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
