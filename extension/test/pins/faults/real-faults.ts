/** Random faults in mid-transfer of pinned origins in a real browser, with the real host. */
import { fileURLToPath } from 'node:url';
import type { PinState } from '@hopwise/contract';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { isSilent, mustLift } from '../../../../native-host/test/faults/expectations.ts';
import { Patience } from '../../../../native-host/test/faults/patience.ts';
import {
  type CasePlan,
  type Fault,
  LINK_FAULTS,
  planCase,
} from '../../../../native-host/test/faults/plan.ts';
import { Random } from '../../../../native-host/test/faults/random.ts';
import { Servers } from '../../../../native-host/test/faults/servers.ts';
import { settledArrivals } from '../../../../native-host/test/faults/settled-arrivals.ts';
import { drawShare } from '../../../../scripts/suites/draw-share.ts';
import { BrowserCase } from './browser-case.ts';
import { launchChromium } from './chromium-faults.ts';
import type { FaultBrowser } from './fault-browser.ts';
import { launchFirefox } from './firefox-faults.ts';
import { HARMS, type Harm, HarmedHost } from './harmed-host.ts';

const packageRoot = fileURLToPath(new URL('../../..', import.meta.url));
const HOST = 'a.lab.test';
/** Cases with an intact host run in parallel. */
const SIDE_BY_SIDE = 12;
const PIN_MINUTES = 60;
/** Timeout for steps that take a second on an idle machine. */
const LIMIT_MS = 30_000;

/** Faults of the host that a share of a round has; each takes a host of its own. */
const HARMS_OF_SHARE = 3;

/** In Firefox a page that waits for a stopped helper ends with NS_ERROR_ABORT when the helper is ended. */
const CHROMIUM_ONLY: Harm = 'host-stopped';

export const FAULT_BROWSERS = ['chromium', 'firefox'] as const;
export type FaultBrowserName = (typeof FAULT_BROWSERS)[number];

interface RealFaults {
  browser: FaultBrowserName;
  /** Number of random cases; a round of `CASES_PER_ROUND` has the next seed. */
  cases: number;
  seed: number;
  /** Only this fault, such as `reset`. */
  only: string | undefined;
  /** Whether each round has all faults, also in `npm test`. */
  all?: boolean;
}

export const CASES_PER_ROUND = SIDE_BY_SIDE + HARMS.length;

/** Defines the tests: one for each batch of cases that share a host. */
export function testRealFaults({
  browser: name,
  cases,
  seed,
  only,
  all = only !== undefined,
}: RealFaults): void {
  const rounds = Array.from({ length: Math.ceil(cases / CASES_PER_ROUND) }, (_, round) => seed + round);
  const harms = HARMS.filter((harm) => name === 'chromium' || harm !== CHROMIUM_ONLY);
  const batches = rounds.flatMap((round) => batchesOf(round, all ? harms : drawHarms(round, harms), only));
  describe(`${name}`, () => {
    const run = new RealRun(name);
    beforeAll(() => run.start());
    afterAll(() => run.stop());
    test.each(batches.map((plans) => [wordsOf(plans), plans] as const))('%s', async (_words, plans) => {
      const wrong = await run.runBatch(plans);
      expect(wrong.map((words) => `${words}\n${repetition(name, words)}`)).toEqual([]);
    });
  });
}

function wordsOf(plans: readonly CasePlan[]): string {
  return plans.map(({ name }) => name).join(', ');
}

function drawHarms(seed: number, harms: readonly Harm[]): Harm[] {
  return drawShare(harms, HARMS_OF_SHARE, (harm) => `${seed} ${harm}`);
}

function batchesOf(seed: number, harms: readonly Harm[], only: string | undefined): CasePlan[][] {
  const links: readonly Fault[] = new Random(seed).some(SIDE_BY_SIDE, LINK_FAULTS);
  return [links, ...harms.map((fault) => [fault])]
    .map((faults) => faults.filter((fault) => only === undefined || only === fault))
    .filter((faults) => faults.length > 0)
    .map((faults) => faults.map((fault) => planVerification(seed, fault)));
}

function planVerification(seed: number, fault: Fault): CasePlan {
  const name = `${seed}/${fault}`;
  for (let draw = 0; ; draw += 1) {
    const plan = planCase(new Random(name, draw), name, fault);
    // The page would wait for the rest of a response without limit.
    if (isSilent(plan)) return { ...plan, moment: { at: 'before', bytes: 0 } };
    // A helper without transfers is not affected.
    const isBusy = plan.pin !== 'avoid-h3' && /^(up|down)$/.test(plan.moment.at) && plan.requests.length > 2;
    if (isBusy || !isHarm(fault)) return plan;
  }
}

function isHarm(fault: Fault): fault is Harm {
  return (HARMS as readonly Fault[]).includes(fault);
}

/** Command that repeats a case. */
function repetition(browser: string, words: string): string {
  const [, seed, fault] = /^(\d+)\/([a-z-]+)/.exec(words)!;
  return `npm run bench -- browser-faults --browser ${browser} --seed ${seed} --fault ${fault}`;
}

/** The browser, its host and the servers that all batches share. */
class RealRun {
  readonly #name: FaultBrowserName;
  #servers!: Servers;
  #harmed!: HarmedHost;
  #browser!: FaultBrowser;

  constructor(name: FaultBrowserName) {
    this.#name = name;
  }

  async start(): Promise<void> {
    this.#servers = await Servers.start();
    const servers = this.#servers.trusted;
    this.#harmed = await HarmedHost.create(`https://${HOST}`, servers);
    const options = { packageRoot, name: HOST, servers, tabs: SIDE_BY_SIDE };
    this.#browser =
      this.#name === 'firefox'
        ? await launchFirefox(this.#harmed, options)
        : await launchChromium(this.#harmed, packageRoot, HOST, SIDE_BY_SIDE);
  }

  async stop(): Promise<void> {
    await this.#browser?.close();
    this.#harmed?.host.remove();
    await this.#servers?.stop();
  }

  /** Runs cases that share a host in parallel. @returns one line for each failure */
  async runBatch(plans: readonly CasePlan[]): Promise<string[]> {
    const browser = this.#browser;
    for (const { origin } of await this.#pins()) await browser.ask({ type: 'unpin', origins: [origin] });
    await this.#harmed.heal();
    let carriers = [process.pid];
    const patience = new Patience(() => carriers);
    const cases = await Promise.all(plans.map((plan, at) => this.#openCase(plan, at, patience)));
    for (const one of cases) await this.#pin(one);
    await vi.waitFor(
      async () => {
        const states = (await this.#pins()).map(({ state, reason }) => `${state} ${reason}`);
        expect(states).toEqual(plans.map(() => 'active '));
        expect(await browser.steers(cases.map(({ origin }) => origin))).toBe(true);
      },
      { timeout: LIMIT_MS, interval: 20 },
    );
    const { host } = this.#harmed;
    carriers = [process.pid, ...host.running(), ...host.engines()];
    await Promise.all(cases.map((one) => one.open()));
    await Promise.all(cases.map((one) => one.run()));
    // The browser may see a failure before the helper has checked the origin and lifted its pin.
    const lifted = cases.filter(({ plan }) => mustLift(plan)).map(({ origin }) => origin);
    await vi.waitFor(
      async () => {
        const pins = await this.#pins();
        const held = pins.filter(({ origin, state }) => lifted.includes(origin) && state !== 'lifted');
        expect(held).toEqual([]);
      },
      { timeout: LIMIT_MS, interval: 100 },
    );
    const states = await this.#pins(plans.some(({ fault }) => fault === 'clock-days'));
    for (const one of cases) one.judgePin(states.find(({ origin }) => origin === one.origin) ?? null);
    await Promise.all(cases.map((one) => one.close()));
    const arrivals = await settledArrivals(this.#servers, cases[0]!.tag);
    for (const one of cases) one.judgeArrivals(arrivals);
    return cases.flatMap(({ wrong }) => wrong);
  }

  #openCase(plan: CasePlan, at: number, patience: Patience): Promise<BrowserCase> {
    const { certificateErrors, pages } = this.#browser;
    const { fault, lastsMs } = plan;
    return BrowserCase.open(
      plan,
      HOST,
      { page: pages[at]!, certificateErrors },
      this.#servers,
      patience,
      () => {
        if (isHarm(fault)) this.#harmed.injectFault(fault, lastsMs);
      },
    );
  }

  async #pin({ origin, plan: { pin: kind, fault } }: BrowserCase): Promise<void> {
    // These faults take effect only when the host uses the disk or reads the clock.
    const order = { persistent: fault === 'disk-full', minutes: fault === 'clock-days' ? PIN_MINUTES : null };
    // The extension may not have noticed yet that the previous host has ended.
    await vi.waitFor(
      async () => {
        const answer = await this.#browser.ask({
          type: 'pin',
          pins: [{ origin, kind, allowLocal: true }],
          ...order,
        });
        if (!answer.ok) throw new Error(answer.error);
      },
      { timeout: LIMIT_MS, interval: 100 },
    );
  }

  /** @param fresh asks the host as well, which starts it if it has ended */
  async #pins(fresh = false): Promise<PinState[]> {
    const answer = await this.#browser.ask({ type: 'pins', fresh });
    if (!answer.ok) throw new Error(answer.error);
    return answer.pins;
  }
}
