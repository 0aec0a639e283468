/** Random faults in mid-transfer of pinned origins in real Chromium, with the real host. */
import { fileURLToPath } from 'node:url';
import type { PinState } from '@hopwise/contract';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { isSilent } from '../../../../native-host/test/faults/expectations.ts';
import {
  type CasePlan,
  type Fault,
  LINK_FAULTS,
  planCase,
} from '../../../../native-host/test/faults/plan.ts';
import { Random } from '../../../../native-host/test/faults/random.ts';
import { Servers } from '../../../../native-host/test/faults/servers.ts';
import { settledArrivals } from '../../../../native-host/test/faults/settled-arrivals.ts';
import { type ExtensionBrowser, launch } from '../../browser.ts';
import { ChromiumCase } from './chromium-case.ts';
import { HARMS, type Harm, HarmedHost } from './harmed-host.ts';

/** Number of random cases. */
const SEED = Number(process.env.HOPWISE_FAULTS_SEED ?? 1);
/** Only this case, such as `reset`. */
const ONLY = process.env.HOPWISE_FAULTS_CASE;

const packageRoot = fileURLToPath(new URL('../../..', import.meta.url));
const HOST = 'a.lab.test';
/** Cases with an intact host run in parallel. */
const SIDE_BY_SIDE = 12;
const PIN_MINUTES = 60;
/** Timeout for steps that take a second on an idle machine. */
const LIMIT_MS = 30_000;

let servers: Servers;
let harmed: HarmedHost;
let browser: ExtensionBrowser;
/** A page of the extension through which the tests send messages. */
let own: Page;
const pages: Page[] = [];

beforeAll(async () => {
  servers = await Servers.start();
  harmed = await HarmedHost.create(`https://${HOST}`, servers.trusted);
  const { host } = harmed;
  browser = await launch(
    `${packageRoot}dist/chromium`,
    ['--host-resolver-rules=MAP *.lab.test 127.0.0.1'],
    [],
    host.env,
  );
  host.registerWithNames(browser.profile, [HOST]);
  own = await browser.openOwn('devtools.html');
  await own.evaluate(() =>
    chrome.permissions.request({ permissions: ['browsingData', 'webRequestAuthProvider'] }),
  );
  for (let page = 0; page < SIDE_BY_SIDE; page += 1) pages.push(await browser.context.newPage());
});

afterAll(async () => {
  await browser?.close();
  harmed?.host.remove();
  await servers?.stop();
});

/** @param fresh asks the host as well, which starts it if it has ended */
const pins = async (fresh = false): Promise<PinState[]> => {
  const answer = await browser.ask(own, { type: 'pins', fresh });
  if (!answer.ok) throw new Error(answer.error);
  return answer.pins;
};

/** Runs cases that share a host in parallel. @returns one line for each failure. */
async function run(plans: readonly CasePlan[], injectHostFault: (plan: CasePlan) => void): Promise<string[]> {
  const cases = await Promise.all(
    plans.map((plan, at) => ChromiumCase.open(plan, HOST, pages[at]!, servers, () => injectHostFault(plan))),
  );
  for (const { plan, origin } of cases) {
    const { pin: kind, fault } = plan;
    // These faults take effect only when the host uses the disk or reads the clock.
    const order = { persistent: fault === 'disk-full', minutes: fault === 'clock-days' ? PIN_MINUTES : null };
    // The extension may not have noticed yet that the previous host has ended.
    await vi.waitFor(
      async () => {
        const answer = await browser.ask(own, { type: 'pin', origin, kind, ...order });
        if (!answer.ok) throw new Error(answer.error);
      },
      { timeout: LIMIT_MS, interval: 100 },
    );
  }
  await vi.waitFor(
    async () => {
      const states = (await pins()).map(({ state, reason }) => `${state} ${reason}`);
      expect(states).toEqual(plans.map(() => 'active '));
      expect(await steered()).toEqual(expect.arrayContaining(cases.map(({ origin }) => origin)));
    },
    { timeout: LIMIT_MS, interval: 20 },
  );
  await Promise.all(cases.map((one) => one.open()));
  await Promise.all(cases.map((one) => one.run()));
  const states = await pins(plans.some(({ fault }) => fault === 'clock-days'));
  for (const one of cases) one.judgePin(states.find(({ origin }) => origin === one.origin) ?? null);
  await Promise.all(cases.map((one) => one.close()));
  const arrivals = await settledArrivals(servers, cases[0]!.tag);
  for (const one of cases) one.judgeArrivals(arrivals);
  return cases.flatMap(({ wrong }) => wrong);
}

/** Origins that the browser routes to the helper. */
function steered(): Promise<string[]> {
  return own.evaluate(async () => {
    const { value } = await chrome.proxy.settings.get({});
    return value.pacScript?.data?.match(/https:[^"]+/g) ?? [];
  });
}

const links: readonly Fault[] = new Random(SEED).some(SIDE_BY_SIDE, LINK_FAULTS);
const batches = [links, ...HARMS.map((fault) => [fault])]
  .map((faults) => faults.filter((fault) => ONLY === undefined || ONLY === fault))
  .filter((faults) => faults.length > 0);

test.each(batches.map((faults) => [faults.join(', '), faults] as const))(
  `with seed ${SEED}: %s`,
  async (_names, faults) => {
    const plans = faults.map(planVerification);
    for (const { origin } of await pins()) await browser.ask(own, { type: 'unpin', origin });
    await harmed.heal();
    const wrong = await run(plans, ({ fault, lastsMs }) => {
      if (isHarm(fault)) harmed.injectFault(fault, lastsMs);
    });
    expect(wrong.map((words) => `${words}\n${again(words)}`)).toEqual([]);
  },
);

function planVerification(fault: Fault): CasePlan {
  const name = `${SEED}/${fault}`;
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
function again(words: string): string {
  const fault = /\/([a-z-]+)/.exec(words)![1];
  return `HOPWISE_FAULTS_SEED=${SEED} HOPWISE_FAULTS_CASE=${fault} npx vitest run --project integration extension/test/pins/faults`;
}
