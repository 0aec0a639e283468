/** The fixtures themselves. */
import { dirname, resolve } from 'node:path';
import { siteInitScript } from '@hopwise/lab/browser/determinism';
import type { Lab } from '@hopwise/lab/client/lab';
import { isPageName, openPage, type PageSource } from '@hopwise/lab/pages/page-source';
import type { Prediction } from '@hopwise/pageload-emulator';
import { test as base, type TestInfo } from '@playwright/test';
import { replayChromium } from './chromium.ts';
import { ReplayError } from './errors.ts';
import { LabKeeper } from './lab-keeper.ts';
import { loadPage, longestLoadMs, predictionOf, type ReplayLoad, titleOf } from './load.ts';
import { browserProtocol, namedNetwork, type ReplayOptions } from './options.ts';
import { withPageOption } from './page-option.ts';
import { LoadReport } from './report.ts';

/** What one load is to be different in from the test's options. */
export type LoadChanges = Partial<Pick<ReplayOptions, 'network' | 'protocol' | 'seed' | 'view'>> & {
  /** Time to the load event; 60,000 ms unless given. It is not taken from the test's own time. */
  timeoutMs?: number;
};

/** What tests, hooks and other fixtures can ask for. */
export interface ReplayFixtures {
  /** The page's URL inside the lab. */
  url: string;
  /** The lab with the test's page and network; the next test has the same one where its page is the same. */
  lab: Lab;
  /**
   * Loads the page once in a fresh browser context and records the load.
   *
   * @throws in one line when the page does not come to its load event
   */
  load: (changes?: LoadChanges) => Promise<ReplayLoad>;
  /** What hopwise makes of the recording of one load under the test's options, told the network. */
  prediction: Prediction;
}

/** Of the worker, and not for tests. */
interface KeeperFixtures {
  _labKeeper: LabKeeper;
}
interface PageFixtures {
  _replayed: PageSource;
}

const LOAD_TIMEOUT_MS = 60_000;
/** At first use the lab's program is built, and a page of a registry package is fetched and recorded. */
const PREPARE_TIMEOUT_MS = 300_000;

const extended = base.extend<ReplayOptions & ReplayFixtures & PageFixtures, KeeperFixtures>({
  replay: ['shop', { option: true }],
  network: ['cable', { option: true }],
  protocol: ['natural', { option: true }],
  seed: [1, { option: true }],
  ipVersion: [4, { option: true }],
  view: ['cold', { option: true }],

  _labKeeper: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern what a fixture needs.
    async ({}, use) => {
      const keeper = await LabKeeper.open();
      await use(keeper);
      await keeper.close();
    },
    { scope: 'worker', box: true },
  ],

  _replayed: [
    async ({ replay }, use, info) => use(await replayedPage(replay, info)),
    { box: true, timeout: PREPARE_TIMEOUT_MS },
  ],

  url: async ({ _replayed }, use) => use(_replayed.site.entry),

  lab: [
    async ({ _labKeeper, _replayed, network, seed, ipVersion }, use) => {
      const wanted = { ...namedNetwork(network).network, seed };
      await use(await _labKeeper.lab({ page: _replayed, network: wanted, ipVersion }));
    },
    { timeout: PREPARE_TIMEOUT_MS },
  ],

  load: async (
    { lab, _labKeeper, _replayed, network, protocol, seed, view, launchOptions, playwright },
    use,
    info,
  ) => {
    const report = new LoadReport(info);
    const executablePath = replayChromium(launchOptions.executablePath, playwright.chromium.executablePath());
    const own = { ...namedNetwork(network).network, seed };
    const ownProtocol = browserProtocol(protocol, _replayed.site.origins);
    const loadWith = async (changes: LoadChanges): Promise<ReplayLoad> => {
      const asked = { network, protocol, seed, view, timeoutMs: LOAD_TIMEOUT_MS, ...changes };
      const named = namedNetwork(asked.network);
      const forced = browserProtocol(asked.protocol, _replayed.site.origins);
      const what = { ...asked, page: _replayed.name, network: named };
      return base.step(`load ${titleOf(what)}`, () =>
        withTimeFor(info, longestLoadMs(asked), async () => {
          try {
            const browser = await _labKeeper.measuringBrowser({ executablePath, protocol: forced });
            const load = await loadPage({
              ...what,
              lab,
              browser,
              site: _replayed.site,
              closeConnections: () => _labKeeper.closeConnections(),
            });
            await report.add(load);
            return load;
          } finally {
            // What the test does next is under its own options again.
            await _labKeeper.offerFor(ownProtocol);
            if (changes.network !== undefined || changes.seed !== undefined) await _labKeeper.configure(own);
          }
        }),
      );
    };
    let last: Promise<unknown> = Promise.resolve();
    await use((changes = {}) => {
      // Two at once would measure each other.
      const load = last.then(() => loadWith(changes));
      last = load.catch(() => undefined);
      return load;
    });
    await report.end();
  },

  prediction: async ({ load }, use, info) => {
    const prediction = predictionOf(await load());
    const { waterfall: _waterfall, ...answer } = prediction;
    await info.attach('prediction.json', {
      body: JSON.stringify(answer, null, 1),
      contentType: 'application/json',
    });
    await use(prediction);
  },

  context: async (
    { lab, _labKeeper, _replayed, protocol, playwright, browserName, launchOptions, headless, baseURL },
    use,
  ) => {
    if (browserName !== 'chromium') {
      throw new ReplayError(`browserName ${browserName}: expected chromium, whose protocol can be forced`);
    }
    const browser = await _labKeeper.testBrowser(
      {
        executablePath: replayChromium(launchOptions.executablePath, playwright.chromium.executablePath()),
        protocol: browserProtocol(protocol, _replayed.site.origins),
        key: [launchOptions, headless],
      },
      ({ executablePath, args }) =>
        playwright.chromium.launch({
          ...launchOptions,
          headless,
          executablePath,
          args: [...args, ...(launchOptions.args ?? [])],
        }),
    );
    // A test that made loads under other options left the link as they had it.
    await lab.drain();
    const context = await browser.newContext({ baseURL: baseURL ?? _replayed.site.entry });
    const { initScript } = siteInitScript(_replayed.site);
    if (initScript !== undefined) await context.addInitScript(initScript);
    await use(context);
    await context.close();
  },
});

/** Playwright's `test` with the fixtures of `ReplayFixtures` and the options of `ReplayOptions`. */
export const test = withPageOption(extended);

async function replayedPage(page: string, { config, project }: TestInfo): Promise<PageSource> {
  if (typeof page !== 'string')
    throw new ReplayError(`page ${JSON.stringify(page)}: expected a page's name or path`);
  // Older versions of Playwright ignore it, newer ones refuse it.
  if ('page' in project.use) throw new ReplayError('use.page in the configuration: call it use.replay');
  const folder = config.configFile ? dirname(config.configFile) : config.rootDir;
  try {
    return await openPage(isPageName(page) ? page : resolve(folder, page));
  } catch (error) {
    throw new ReplayError(error);
  }
}

/** Time that a load takes on its link is not the test's: the test's timeout is moved by as much. */
async function withTimeFor<T>(info: TestInfo, mostMs: number, work: () => Promise<T>): Promise<T> {
  // 0 is no timeout.
  if (info.timeout === 0) return work();
  const before = info.timeout;
  const begun = performance.now();
  info.setTimeout(before + mostMs);
  try {
    return await work();
  } finally {
    info.setTimeout(before + Math.ceil(performance.now() - begun));
  }
}
