/** The test fixtures. */
import { dirname, resolve } from 'node:path';
import { SerialQueue } from '@hopwise/contract';
import { siteInitScript } from '@hopwise/lab/browser/determinism';
import { startFailure } from '@hopwise/lab/browser/start-failure';
import type { Lab } from '@hopwise/lab/client/lab';
import type { BrowserProtocol } from '@hopwise/lab/loads/protocol-args';
import { isPageName, openPage, type PageSource } from '@hopwise/lab/pages/page-source';
import type { Prediction } from '@hopwise/pageload-emulator';
import {
  type Browser,
  type BrowserType,
  test as base,
  type LaunchOptions,
  type Page,
  type TestInfo,
} from '@playwright/test';
import { replayChromium } from './chromium.ts';
import { ReplayError } from './errors.ts';
import { LabKeeper } from './lab-keeper.ts';
import { LINK_ORIGIN, type LinkOptions, linkOf } from './link.ts';
import {
  describeDisturbance,
  loadPage,
  longestLoadMs,
  predictionOf,
  type ReplayLoad,
  titleOf,
} from './load.ts';
import {
  browserProtocol,
  changesOf,
  type LoadChanges,
  namedNetwork,
  type Replay,
  type ReplayOptions,
  replayOf,
  requireReachable,
} from './options.ts';
import { LoadReport } from './report.ts';

/** What tests, hooks and other fixtures can ask for. */
export interface ReplayFixtures {
  /** The replayed page's URL inside the lab. */
  replayUrl: string;
  /**
   * A page of Playwright in a browser inside the lab, on the replay's network and by its protocol, for a test of its own
   * steps: `await replayPage.goto(replayUrl)`. Playwright's own `page` stays on the machine's network.
   */
  replayPage: Page;
  /** The lab with the test's page and network; the next test has the same one where its page is the same. */
  lab: Lab;
  /**
   * Loads the page once in a fresh browser context and records the load.
   *
   * @throws in one line when the page's load event does not come
   */
  load: (changes?: LoadChanges) => Promise<ReplayLoad>;
  /** Where the server of `link` is in the lab: the base URL of `linkPage`. */
  linkUrl: string;
  /** A page of Playwright in a browser behind the link: `await linkPage.goto('/')`. */
  linkPage: Page;
  /** The lab of the test's `link`: `configure` changes its network in mid-test. */
  linkLab: Lab;
  /** hopwise's prediction from the recording of one load of the replay, given its network. */
  prediction: Prediction;
}

/** Worker-scoped and internal. */
interface KeeperFixtures {
  _labKeeper: LabKeeper;
}
interface PageFixtures {
  /** The option, checked and with its defaults, and the page that it names. */
  _replay: Required<Replay> & { source: PageSource };
}

const LOAD_TIMEOUT_MS = 60_000;
/** At first use the lab's program is built, and a page of a registry package is fetched and recorded. */
const PREPARE_TIMEOUT_MS = 300_000;

/** Playwright's `test` with the option of `ReplayOptions` and the fixtures of `ReplayFixtures`. */
export const test = base.extend<ReplayOptions & LinkOptions & ReplayFixtures & PageFixtures, KeeperFixtures>({
  replay: [undefined, { option: true }],
  link: [undefined, { option: true }],

  _labKeeper: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern what a fixture needs.
    async ({}, use) => {
      const keeper = await LabKeeper.open();
      await use(keeper);
      await keeper.close();
    },
    { scope: 'worker', box: true },
  ],

  _replay: [
    async ({ replay }, use, info) => {
      const wanted = replayOf(replay);
      await use({ ...wanted, source: await replayedPage(wanted.page, info) });
    },
    { box: true, timeout: PREPARE_TIMEOUT_MS },
  ],

  replayUrl: async ({ _replay }, use) => use(_replay.source.site.entry),

  lab: [
    async ({ _labKeeper, _replay: { source, network, seed, ipVersion } }, use) => {
      const wanted = { ...namedNetwork(network).network, seed };
      await use(await _labKeeper.lab({ page: source, network: wanted, ipVersion }));
    },
    { timeout: PREPARE_TIMEOUT_MS },
  ],

  load: async ({ lab, _labKeeper, _replay, launchOptions, playwright }, use, info) => {
    const report = new LoadReport(info);
    const { source, network, protocol, seed, view, disturbed } = _replay;
    const executablePath = replayChromium(launchOptions.executablePath, playwright.chromium.executablePath());
    const own = { ...namedNetwork(network).network, seed };
    const ownProtocol = browserProtocol(protocol, source.site.origins);
    const loadWith = async (changes: LoadChanges): Promise<ReplayLoad> => {
      const asked = { network, protocol, seed, view, disturbed, timeoutMs: LOAD_TIMEOUT_MS, ...changes };
      const named = namedNetwork(asked.network);
      const forced = browserProtocol(asked.protocol, source.site.origins);
      const what = { ...asked, page: source.name, network: named };
      return base.step(`load ${titleOf(what)}`, () =>
        withTimeFor(info, longestLoadMs(asked), async () => {
          try {
            const browser = await _labKeeper.measuringBrowser({ executablePath, protocol: forced });
            const load = await loadPage({
              ...what,
              lab,
              browser,
              site: source.site,
              closeConnections: () => _labKeeper.closeConnections(),
            });
            await report.add(load);
            const disturbance = describeDisturbance([load]);
            info.skip(disturbed === 'skip' && disturbance !== '', `${titleOf(load)}: ${disturbance}`);
            return load;
          } finally {
            // Restores the test's own options for what follows.
            await _labKeeper.offerFor(ownProtocol);
            if (changes.network !== undefined || changes.seed !== undefined) await _labKeeper.configure(own);
          }
        }),
      );
    };
    // Simultaneous loads would slow each other down.
    const queue = new SerialQueue();
    await use((changes = {}) => queue.run(async () => loadWith(changesOf(changes))));
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

  replayPage: async (
    {
      lab,
      _labKeeper,
      _replay: { source, network, protocol },
      playwright,
      browserName,
      launchOptions,
      headless,
    },
    use,
  ) => {
    requireChromium(browserName);
    requireReachable('replay', protocol, namedNetwork(network));
    const browser = await launchInLab(_labKeeper, browserProtocol(protocol, source.site.origins), {
      chromium: playwright.chromium,
      launchOptions,
      headless,
    });
    // Earlier loads with other options may have left packets on the link.
    await lab.drain();
    const context = await browser.newContext({ baseURL: source.site.entry });
    const { initScript } = siteInitScript(source.site);
    if (initScript !== undefined) await context.addInitScript(initScript);
    await use(await context.newPage());
    await context.close();
  },

  linkUrl: `${LINK_ORIGIN}/`,

  linkLab: [
    async ({ _labKeeper, link, replay, baseURL }, use) => {
      if (link === undefined) {
        throw new ReplayError("link: expected a network, as in test.use({ link: { network: 'lossy' } })");
      }
      if (replay !== undefined) {
        throw new ReplayError('link: expected without replay, which has pages and a lab of its own');
      }
      const { server, network, protocol, seed } = linkOf(link, baseURL);
      const named = namedNetwork(network);
      requireReachable('link', protocol, named);
      await use(await _labKeeper.linkedLab(server, { ...named.network, seed }));
    },
    { timeout: PREPARE_TIMEOUT_MS },
  ],

  linkPage: async (
    { linkLab, _labKeeper, link, baseURL, playwright, browserName, launchOptions, headless },
    use,
  ) => {
    requireChromium(browserName);
    const launching = { chromium: playwright.chromium, launchOptions, headless };
    const browser = await launchInLab(_labKeeper, linkOf(link, baseURL).protocol, launching);
    // Earlier tests may have left packets on the link.
    await linkLab.drain();
    const context = await browser.newContext({ baseURL: LINK_ORIGIN });
    await use(await context.newPage());
    await context.close();
  },
});

/**
 * `test` whose `page` and `context` are those of `link`, for tests that were written for a server as it is: only the import changes, and
 * Playwright's own browser is not started.
 */
export const linkTest = test.extend({
  page: async ({ linkPage }, use) => use(linkPage),
  context: async ({ linkPage }, use) => use(linkPage.context()),
});

/** What a test's own browser is started with. */
interface Launching {
  chromium: BrowserType;
  launchOptions: LaunchOptions;
  headless: boolean;
}

/** Starts a browser for a test's own steps inside the lab, or takes the one that an earlier test has left. */
function launchInLab(
  keeper: LabKeeper,
  protocol: BrowserProtocol,
  { chromium, launchOptions, headless }: Launching,
): Promise<Browser> {
  const executablePath = replayChromium(launchOptions.executablePath, chromium.executablePath());
  return keeper.testBrowser(
    { executablePath, protocol, key: [launchOptions, headless] },
    async ({ executablePath: inside, args }) => {
      const launched = chromium.launch({
        ...launchOptions,
        headless,
        executablePath: inside,
        args: [...args, ...(launchOptions.args ?? [])],
      });
      return launched.catch((error) => {
        throw new ReplayError(startFailure(error, executablePath));
      });
    },
  );
}

function requireChromium(browserName: string): void {
  if (browserName === 'chromium') return;
  throw new ReplayError(`browserName ${browserName}: expected chromium, whose protocol can be forced`);
}

async function replayedPage(page: string, { config }: TestInfo): Promise<PageSource> {
  const folder = config.configFile ? dirname(config.configFile) : config.rootDir;
  try {
    return await openPage(isPageName(page) ? page : resolve(folder, page));
  } catch (error) {
    throw new ReplayError(error);
  }
}

/** Extends the test's timeout by the time that `work` takes: the emulated link decides that time, not the test. */
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
