/** Runs the cases that share a host, at the same time, and says what was wrong. */
import { DAY_MS } from '@hopwise/contract';
import { until } from '../pins/proxy/support/peers.ts';
import { bundle } from '../support/server.ts';
import { BatchCost, type Cost, faultsOfCost } from './batch-cost.ts';
import {
  faultOfArrivals,
  faultOfPin,
  faultOfResult,
  limitMs,
  mustLift,
  pageLimitMs,
  pageMayWait,
  shownCertificate,
} from './expectations.ts';
import { FaultHost } from './fault-host.ts';
import { FaultyLink } from './faulty-link.ts';
import { befallLink } from './link-faults.ts';
import { ModelBrowser, type Result } from './model-browser.ts';
import { Patience } from './patience.ts';
import type { BatchPlan, CasePlan, HostFault, PlannedRequest } from './plan.ts';
import {
  headersOf,
  isRightReceipt,
  isUpload,
  PAGE,
  pathOf,
  rightAnswer,
  wordsOf,
} from './planned-request.ts';
import { seededBytes } from './seeded-bytes.ts';
import type { Servers } from './servers.ts';
import { settledArrivals } from './settled-arrivals.ts';

const WARM_LIMIT_MS = 20_000;
/** For what follows the last request, on a machine however busy: the host and its engine end, servers say what has reached them. */
const ENDING_LIMIT_MS = 300_000;
/** Waits for a processor that can make a check of an origin late. */
const BUSY_MS = 1_000;
/** Those that pins are kept for: the disk has to be used. */
const KEPT: readonly (HostFault | null)[] = ['disk-full'];
const CLOCKS_MS: Partial<Record<string, number>> = {
  'clock-days': 2.5 * DAY_MS,
  'clock-years': 400 * DAY_MS,
  'clock-back': -3 * DAY_MS,
};
interface Tools {
  servers: Servers;
  caFile: string;
  libcurl: string;
}

export interface BatchOutcome {
  /** One line for each thing that was wrong. */
  wrong: string[];
  cost: Cost;
}

export async function runBatch(plan: BatchPlan, tools: Tools): Promise<BatchOutcome> {
  const host = await FaultHost.start({
    hosts: ['localhost'],
    caFile: tools.caFile,
    libcurl: tools.libcurl,
    hasSmallDisk: plan.hostFault === 'ca-disk-full',
  });
  const processes = (): number[] => host.processes;
  // As the limits of the cases: this process carries their requests as well.
  const measured = new BatchCost(processes, new Patience(() => [process.pid, ...processes()]));
  const hostFault = new HostFaults(host, plan);
  const runs = plan.cases.map((one) => new CaseRun(one, host, hostFault, { ...tools, over: measured.over }));
  const wrong: string[] = [];
  // Some waits are for the host alone.
  measured.over.addEventListener('abort', () => host.kill());
  try {
    for (const run of runs) await run.prepare(KEPT.includes(plan.hostFault));
    await Promise.all(runs.map((run) => run.warm()));
    await Promise.all(runs.map((run) => run.run()));
    await Promise.all(runs.map((run) => run.awaitLift()));
    await host.refresh();
    for (const run of runs) run.judgePin();
  } catch (fault) {
    wrong.push(`${plan.name}: ${(fault as Error).stack}`);
  }
  const log = host.log;
  const cost = measured.stop();
  for (const words of faultsOfCost(cost)) wrong.push(`${plan.name} ${plan.hostFault ?? ''}: ${words}`);
  if (/seeded|digest/.test(log)) wrong.push(`${plan.name}: the log has paths of requests`);
  const end = async (): Promise<void> => {
    for (const words of await host.end()) wrong.push(`${plan.name} ${plan.hostFault ?? ''}: ${words}`);
    await Promise.all(runs.map((run) => run.close()));
    const arrivals = await settledArrivals(tools.servers, plan.name);
    for (const run of runs) run.judgeArrivals(arrivals);
    for (const path of await tools.servers.underExpired())
      wrong.push(`${plan.name}: ${path} was sent under an expired certificate`);
  };
  try {
    await within(ENDING_LIMIT_MS, end());
  } catch (fault) {
    host.kill();
    wrong.push(`${plan.name}: after its requests: ${(fault as Error).stack}`);
  }
  return { wrong: [...wrong, ...runs.flatMap((run) => run.wrong)], cost };
}

/** @throws Error when work has not ended within a time */
async function within(limitMs: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${limitMs} ms`)), limitMs);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** A fault that all cases of a batch have in common: it happens at the moment of one of them. */
class HostFaults {
  readonly #host: FaultHost;
  readonly #plan: BatchPlan;
  #cause: CasePlan | null = null;

  constructor(host: FaultHost, plan: BatchPlan) {
    this.#host = host;
    this.#plan = plan;
  }

  happen(cause: CasePlan): void {
    if (this.#cause) return;
    this.#cause = cause;
    const host = this.#host;
    switch (this.#plan.hostFault) {
      case null:
        break;
      case 'engine-killed':
        host.signalEngine('SIGKILL');
        break;
      case 'engine-stopped': {
        host.signalEngine('SIGSTOP');
        setTimeout(() => host.signalEngine('SIGCONT'), cause.lastsMs);
        break;
      }
      case 'engine-garbage':
        host.signalEngine('SIGUSR2');
        break;
      case 'host-killed':
        host.kill();
        break;
      case 'port-closed':
        host.closePort();
        break;
      case 'frame-garbage':
        host.sendGarbage();
        break;
      case 'disk-full':
        host.fillDisk();
        break;
      case 'ca-removed':
        host.removeAuthority();
        break;
      case 'ca-disk-full':
        host.fillAuthorityDisk();
        break;
      default:
        host.setClock(CLOCKS_MS[this.#plan.hostFault]!);
    }
  }
}

interface CaseTools extends Tools {
  /** The batch has cost too much. */
  over: AbortSignal;
}

interface Asked {
  id: string;
  request: PlannedRequest;
  result: Result;
}

class CaseRun {
  readonly wrong: string[] = [];
  readonly #plan: CasePlan;
  readonly #host: FaultHost;
  readonly #hostFaults: HostFaults;
  readonly #tools: CaseTools;
  readonly #asked: Asked[] = [];
  readonly #patience: Patience;
  #link: FaultyLink | null = null;
  #browser: ModelBrowser | null = null;
  #healed: Promise<void> = Promise.resolve();

  constructor(plan: CasePlan, host: FaultHost, hostFaults: HostFaults, tools: CaseTools) {
    this.#plan = plan;
    this.#host = host;
    this.#hostFaults = hostFaults;
    this.#tools = tools;
    this.#patience = new Patience(() => [process.pid, ...host.processes]);
  }

  async prepare(isKept: boolean): Promise<void> {
    const { pin, alpn } = this.#plan;
    const link = await FaultyLink.open(this.#tools.servers.whole.port);
    this.#link = link;
    const { port } = await this.#host.pin(link.origin, pin, isKept);
    this.#browser = new ModelBrowser({
      port: link.port,
      proxy: { port },
      alpn,
      roots: [this.#host.root, bundle(this.#tools.servers.trusted)],
      clockOffsetMs: () => this.#host.clockOffsetMs,
    });
    const state = this.#host.pinOf(link.origin);
    const words = `the pin did not take effect: ${state?.state} ${state?.reason}`;
    if (state?.state !== 'active' && !this.#isLateCheck(words)) this.#note(words);
  }

  /** The helper's own check of the origin has a limit, and its processes waited for a processor. */
  #isLateCheck(words: string): boolean {
    return /no response within/.test(words) && this.#patience.waitedMs() > BUSY_MS;
  }

  /** What the browser has loaded before the fault. */
  async warm(): Promise<void> {
    if (this.#plan.isWarm) await this.#page('before the fault', WARM_LIMIT_MS, null);
  }

  async run(): Promise<void> {
    const { moment, requests } = this.#plan;
    const link = this.#link!;
    if (moment.at === 'handshake') link.reset();
    if (moment.at === 'before') this.#happen();
    const reached =
      moment.at === 'up' || moment.at === 'handshake'
        ? link.passed('up', moment.bytes)
        : moment.at === 'down'
          ? link.passed('down', moment.bytes)
          : null;
    let isOver = false;
    void reached?.then(() => {
      if (!isOver) this.#happen();
    });
    const limit = this.#limit(limitMs(this.#plan));
    await Promise.all(requests.map((request) => this.#ask(request, limit)));
    isOver = true;
    this.#happen();
    await this.#healed;
    if (!pageMayWait(this.#plan)) {
      await this.#page('after the fault', pageLimitMs(this.#plan), shownCertificate(this.#plan));
    }
  }

  /** The browser may see a failure before the helper has checked the origin and lifted its pin. */
  async awaitLift(): Promise<void> {
    if (!mustLift(this.#plan)) return;
    const over = this.#limit(pageLimitMs(this.#plan));
    const isOver = (): boolean =>
      over.aborted || this.#host.isOver || this.#host.pinOf(this.#link!.origin)?.state === 'lifted';
    await until(isOver, Number.POSITIVE_INFINITY);
  }

  judgePin(): void {
    if (this.#host.isOver) return;
    const words = faultOfPin(this.#plan, this.#host.pinOf(this.#link!.origin));
    if (words && !this.#isLateCheck(words)) this.#note(words);
  }

  judgeArrivals(arrivals: ReadonlyMap<string, number>): void {
    for (const { id, request, result } of this.#asked) {
      const counts = result.attempts.map((_, attempt) => arrivals.get(`${id}.${attempt}`) ?? 0);
      const words = faultOfArrivals(this.#plan, request, result, counts);
      if (words) this.#note(`${wordsOf(request)}: ${words}`);
    }
  }

  async close(): Promise<void> {
    this.#browser?.close();
    await this.#link?.close();
  }

  #limit(ms: number): AbortSignal {
    return AbortSignal.any([this.#patience.limit(ms), this.#tools.over]);
  }

  #note(words: string): void {
    const { name, pin, alpn, isWarm, fault, moment } = this.#plan;
    const browser = `${alpn[0]}${isWarm ? '' : ' cold'}`;
    this.wrong.push(`${name} ${pin}, browser ${browser}, ${fault} ${moment.at} ${moment.bytes}: ${words}`);
  }

  /** @param shows the browser's own words on the certificate; null: it loads. */
  async #page(when: string, limit: number, shows: RegExp | null): Promise<void> {
    const begin = performance.now();
    const signal = this.#limit(limit);
    for (const request of PAGE) {
      const { failure, attempts } = await this.#ask(request, signal, !shows);
      const failures = attempts.map(({ error }) => error).join(', then ');
      const ms = Math.round(performance.now() - begin);
      if (!shows && failure) this.#note(`the page ${when} does not load, after ${ms} ms: ${failures}`);
      if (shows && !(failure?.failure === 'certificate' && shows.test(failure.message))) {
        this.#note(
          `the page ${when} does not show the certificate, after ${ms} ms: ${failures || 'it loads'}`,
        );
      }
      if (failure) return;
    }
  }

  async #ask(request: PlannedRequest, signal: AbortSignal, isJudged = true): Promise<Result> {
    const id = `${this.#plan.name}.${this.#asked.length}`;
    const asked: Asked = { id, request, result: { answer: null, failure: null, attempts: [] } };
    this.#asked.push(asked);
    const { method, bytes, seed, hasBody } = request;
    const body = hasBody ? seededBytes(bytes, seed) : undefined;
    asked.result = await this.#browser!.ask(
      { method, body, headers: headersOf(request) },
      (attempt) => pathOf(request, `${id}.${attempt}`),
      signal,
    );
    const words = faultOfResult(this.#plan, request, asked.result, isRight(request, asked.result));
    if (words && isJudged) this.#note(`${wordsOf(request)}: ${words}`);
    return asked.result;
  }

  #hasHappened = false;

  #happen(): void {
    if (this.#hasHappened) return;
    this.#hasHappened = true;
    this.#healed = befallLink(this.#plan, this.#link!, this.#tools.servers);
    this.#hostFaults.happen(this.#plan);
  }
}

/** Whether the answer is whole and the one that belongs to the request. */
function isRight(request: PlannedRequest, { answer }: Result): boolean {
  if (!answer) return false;
  if (isUpload(request)) return answer.status === 200 && isRightReceipt(request, answer.body.toString());
  const right = rightAnswer(request);
  return answer.status === right.status && answer.body.equals(right.body);
}
