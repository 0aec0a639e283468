/** One planned case in a real browser: its own page at its own origin, which has an active pin. */
import type { PinState } from '@hopwise/contract';
import {
  faultOfPin,
  faultOfResult,
  limitMs,
  mayBeDoubled,
  pageLimitMs,
  pageMayWait,
  shownCertificate,
} from '../../../../native-host/test/faults/expectations.ts';
import { FaultyLink } from '../../../../native-host/test/faults/faulty-link.ts';
import { befallLink } from '../../../../native-host/test/faults/link-faults.ts';
import {
  BrowserError,
  type Failure,
  type Result,
} from '../../../../native-host/test/faults/model-browser.ts';
import type { Patience } from '../../../../native-host/test/faults/patience.ts';
import type { CasePlan, PlannedRequest } from '../../../../native-host/test/faults/plan.ts';
import {
  isRightReceipt,
  isUpload,
  PAGE,
  rightAnswer,
  sha256,
  wordsOf,
} from '../../../../native-host/test/faults/planned-request.ts';
import type { Servers } from '../../../../native-host/test/faults/servers.ts';
import type { FaultBrowser, FaultPage } from './fault-browser.ts';
import { type Fetched, GIVEN_UP } from './fetched.ts';

const WARM_LIMIT_MS = 20_000;
/** On a busy machine a page may wait so many times as long as on an idle one; what was too long is judged afterwards. */
const BUSY_FACTOR = 4;

export class BrowserCase {
  readonly plan: CasePlan;
  readonly origin: string;
  /** Distinguishes its requests from those of a repetition. */
  readonly tag: string;
  readonly wrong: string[] = [];
  readonly #page: FaultPage;
  readonly #certificateErrors: FaultBrowser['certificateErrors'];
  readonly #link: FaultyLink;
  readonly #servers: Servers;
  readonly #patience: Patience;
  readonly #injectHostFault: () => void;
  readonly #asked: { id: string; request: PlannedRequest; isAnswered: boolean }[] = [];
  #healed: Promise<void> = Promise.resolve();
  #hasHappened = false;

  private constructor(
    plan: CasePlan,
    host: string,
    page: FaultPage,
    certificateErrors: FaultBrowser['certificateErrors'],
    link: FaultyLink,
    servers: Servers,
    patience: Patience,
    injectHostFault: () => void,
  ) {
    this.plan = plan;
    this.origin = `https://${host}:${link.port}`;
    this.tag = `${plan.name}:${link.port}`;
    this.#page = page;
    this.#certificateErrors = certificateErrors;
    this.#link = link;
    this.#servers = servers;
    this.#patience = patience;
    this.#injectHostFault = injectHostFault;
  }

  /** @param patience of the machine @param injectHostFault injects the case's fault if it is not a link fault */
  static async open(
    plan: CasePlan,
    host: string,
    { page, certificateErrors }: { page: FaultPage } & Pick<FaultBrowser, 'certificateErrors'>,
    servers: Servers,
    patience: Patience,
    injectHostFault: () => void,
  ): Promise<BrowserCase> {
    const link = await FaultyLink.open(servers.whole.port);
    return new BrowserCase(plan, host, page, certificateErrors, link, servers, patience, injectHostFault);
  }

  /** Opens the page. */
  async open(): Promise<void> {
    const error = await this.#page.open(`${this.origin}/status/200`, WARM_LIMIT_MS);
    if (error) this.#note(`the page before the fault ends with ${error}`);
    const issuer = this.#page.issuer();
    if (error || issuer === null) return;
    const isTerminated = /^hopwise local CA/.test(issuer);
    if (isTerminated !== (this.plan.pin !== 'avoid-h3'))
      this.#note(`before the fault, the certificate is from ${issuer}`);
  }

  async run(): Promise<void> {
    const { moment, requests } = this.plan;
    if (moment.at === 'handshake') this.#link.reset();
    if (moment.at === 'before') this.#happen();
    else if (moment.at !== 'idle') {
      const direction = moment.at === 'down' ? 'down' : 'up';
      void this.#link.passed(direction, moment.bytes).then(() => this.#happen());
    }
    const limit = limitMs(this.plan);
    await Promise.all(requests.map((request) => this.#ask(request, limit)));
    this.#happen();
    await this.#healed;
    if (!pageMayWait(this.plan)) await this.#load();
  }

  judgePin(pin: PinState | null): void {
    if (this.plan.fault === 'clock-days') {
      if (pin) this.#note('the pin outlasts its time');
      return;
    }
    const words = faultOfPin(this.plan, pin);
    if (words) this.#note(words);
  }

  judgeArrivals(arrivals: ReadonlyMap<string, number>): void {
    for (const { id, request, isAnswered } of this.#asked) {
      const count = arrivals.get(id) ?? 0;
      if (isAnswered && count === 0)
        this.#note(`${wordsOf(request)}: it has succeeded and never reached the server`);
      if (count > 1 && request.method === 'POST' && !mayBeDoubled(this.plan))
        this.#note(`${wordsOf(request)}: it has arrived ${count} times`);
    }
  }

  async close(): Promise<void> {
    await this.#page.open('about:blank', WARM_LIMIT_MS);
    await this.#link.close();
  }

  #note(words: string): void {
    const { name, pin, fault, moment } = this.plan;
    this.wrong.push(`${name} ${pin}, ${fault} ${moment.at} ${moment.bytes}: ${words}`);
  }

  #happen(): void {
    if (this.#hasHappened) return;
    this.#hasHappened = true;
    this.#healed = befallLink(this.plan, this.#link, this.#servers);
    this.#injectHostFault();
  }

  /** Opens the page after the fault, like a user. */
  async #load(): Promise<void> {
    const begin = performance.now();
    const limit = pageLimitMs(this.plan);
    const isLate = this.#watch(limit);
    const opened = await this.#page.open(`${this.origin}/status/200?after`, BUSY_FACTOR * limit);
    const error = isLate() ? GIVEN_UP : opened;
    const ms = Math.round(performance.now() - begin);
    const expected = shownCertificate(this.plan) ? this.#certificateErrors[this.plan.fault]! : /^$/;
    if (!expected.test(error)) {
      this.#note(`the page after the fault ends with ${error || 'success'} after ${ms} ms`);
    }
    if (error) return;
    for (const request of PAGE) await this.#ask(request, limit);
  }

  /** @returns whether more than the limit has passed since, without the time that the machine's other work took */
  #watch(limitMs: number): () => boolean {
    const [beganMs, waitedMs] = [performance.now(), this.#patience.waitedMs()];
    return () => performance.now() - beganMs - (this.#patience.waitedMs() - waitedMs) > limitMs;
  }

  async #ask(request: PlannedRequest, limit: number): Promise<void> {
    const id = `${this.tag}.${this.#asked.length}`;
    const asked = { id, request, isAnswered: false };
    this.#asked.push(asked);
    // What hangs is given up in any case.
    const limitMs = this.plan.fault === 'hang' ? limit : BUSY_FACTOR * limit;
    const isLate = this.#watch(limitMs === limit ? Number.POSITIVE_INFINITY : limit);
    const got = await this.#page.fetch(request, id, limitMs);
    const fetched = isLate() ? { ...got, error: GIVEN_UP } : got;
    asked.isAnswered = fetched.error === '';
    const words = faultOfResult(this.plan, request, resultOf(fetched, this.plan), isRight(request, fetched));
    if (words) this.#note(`${wordsOf(request)}: ${words}`);
  }
}

function resultOf({ status, text, error }: Fetched, { pin }: CasePlan): Result {
  const attempt = { terminated: pin !== 'avoid-h3', again: null, headSeen: status !== 0, error };
  const answer = error ? null : { status, body: Buffer.from(text) };
  const failure = error ? new BrowserError(failureOf(error, status), error) : null;
  return { answer, failure, attempts: [attempt] };
}

function failureOf(error: string, status: number): Failure {
  if (error === GIVEN_UP) return 'given-up';
  if (/PROXY|TUNNEL/.test(error)) return 'proxy';
  if (/CERT/.test(error)) return 'certificate';
  return status === 0 ? 'connection' : 'response';
}

function isRight(request: PlannedRequest, { status, digest, text, error }: Fetched): boolean {
  if (error) return false;
  if (isUpload(request)) return status === 200 && isRightReceipt(request, text);
  const right = rightAnswer(request);
  return status === right.status && digest === sha256(right.body);
}
