import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StoredLoad } from '@hopwise/extension/messages';
import { chromiumPath } from '@hopwise/lab/browser/chromium';
import { siteInitScript } from '@hopwise/lab/browser/determinism';
import { Lab, type LabLog } from '@hopwise/lab/client/lab';
import type { LabNetwork } from '@hopwise/lab/client/networks';
import { protocolArgs } from '@hopwise/lab/loads/protocol-args';
import { openPage, type PageSource } from '@hopwise/lab/pages/page-source';
import { EXTENSION_DIR, HOST_SCRIPT } from '@hopwise/lab/paths';
import type { Site } from '@hopwise/lab/sites/site';
import type { Page } from 'playwright-core';
import { Visits } from '../../extension/src/evidence/visit-kind.ts';
import { ca } from '../../extension/test/pins/pin-requests.ts';
import { type ExtensionBrowser, launch } from '../../extension/test/support/browser.ts';
import { privateLibcurl } from '../../native-host/test/support/private-libcurl.ts';
import { withholdTimings } from './withhold-timings.ts';

const LOAD_TIMEOUT_MS = 60_000;
const RECORDED_TIMEOUT_MS = 40_000;
const POLL_MS = 100;
/** The browser may give a load to HTTP/2 whose HTTP/3 connection comes late, as on a busy machine. */
const MAX_LOADS_UNTIL_H3 = 5;

/** Chromium with the extension and the helper, whose traffic crosses the lab's link to one page. */
export class BrowserOnLink {
  readonly browser: ExtensionBrowser;
  /** A page of the extension through which tests send messages. */
  readonly own: Page;
  readonly site: Site;
  /** The link of the next loads. */
  network: LabNetwork;
  readonly #open: OpenLab;

  private constructor(browser: ExtensionBrowser, own: Page, open: OpenLab) {
    this.browser = browser;
    this.own = own;
    this.site = open.page.site;
    this.network = open.network;
    this.#open = open;
  }

  /**
   * @param pageName as of `npm start -- --page`
   * @param withholdsTimings whether the page's servers send no `Timing-Allow-Origin`
   * @param recordsInDetail whether every load is recorded in detail; otherwise none, as it ships
   * @param hasLocalCa whether the browser trusts a local CA for the page's own origin, which pins to a protocol need
   * @param publicAddresses whether the servers have addresses like those on the internet: the extension treats others as local
   * @param extension folder of the built extension
   */
  static async open(
    pageName: string,
    network: LabNetwork,
    {
      withholdsTimings = false,
      recordsInDetail = false,
      hasLocalCa = false,
      publicAddresses = false,
      extension = EXTENSION_DIR,
    } = {},
  ): Promise<BrowserOnLink> {
    const folder = await mkdtemp(join(tmpdir(), 'hopwise-on-link-'));
    const source = await openPage(pageName);
    const page = withholdsTimings ? await withholdTimings(source, folder) : source;
    const lab = await Lab.up({ site: page.dir, network, publicAddresses });
    const open = { page, lab, folder, network };
    try {
      const browser = await launch(
        extension,
        [...protocolArgs('natural', lab.hosts), `--ignore-certificate-errors-spki-list=${lab.caSpki}`],
        [],
        {
          HOPWISE_CHROMIUM: await lab.wrapper(chromiumPath()),
          HOPWISE_CA_FILE: lab.caFile,
          XDG_STATE_HOME: join(folder, 'state'),
          XDG_CONFIG_HOME: join(folder, 'config'),
          ...(hasLocalCa && (await trustLocalCa(folder, new URL(page.site.entry).origin))),
        },
        'en-US',
        recordsInDetail,
      );
      execFileSync(process.execPath, [HOST_SCRIPT, 'install', '--user-data-dir', browser.profile]);
      return new BrowserOnLink(browser, await browser.openOwn('devtools.html'), open);
    } catch (error) {
      await close(open);
      throw error;
    }
  }

  /** A tab that loads the page as the recording asks for: with seeded randomness. */
  async newTab(): Promise<Page> {
    const tab = await this.browser.context.newPage();
    const { initScript } = siteInitScript(this.site);
    if (initScript !== undefined) await tab.addInitScript(initScript);
    return tab;
  }

  /** Allows pins to the page's servers. Their addresses are reserved for benchmarks, so pins need the user's permission. */
  async allowPinsToServers(): Promise<void> {
    for (const { origin } of this.site.origins) {
      const pins = [{ origin, kind: 'avoid-h3' as const, allowLocal: true }];
      const answer = await this.browser.ask(this.own, { type: 'pin', pins, minutes: 60, persistent: false });
      if (!answer.ok) throw new Error(`${origin}: ${answer.error}`);
      await this.browser.ask(this.own, { type: 'unpin', origins: [origin] });
    }
  }

  /**
   * Loads the page without cache and open connections. To clear the cache would also make the browser forget `Alt-Svc`, and every load
   * a first visit.
   *
   * @returns the recorded load
   */
  async loadCold(tab: Page): Promise<StoredLoad> {
    const { lab, page } = this.#open;
    const before = await this.#findNewestId();
    const devtools = await this.browser.context.newCDPSession(tab);
    await devtools.send('Network.enable');
    await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
    await lab.serve(page.dir);
    await lab.drain();
    // The policer's bucket is full again.
    await lab.configure(this.network);
    await tab.goto(this.site.entry, { waitUntil: 'load', timeout: LOAD_TIMEOUT_MS });
    await devtools.detach();
    return this.nextLoad(tab, before);
  }

  /**
   * Loads the page as `loadCold` does until the browser uses HTTP/3 from the first request on.
   *
   * @param prepare is awaited before each load
   * @returns that load
   */
  async loadOverH3(tab: Page, prepare?: () => Promise<unknown>): Promise<StoredLoad> {
    for (let count = 0; count < MAX_LOADS_UNTIL_H3; count++) {
      await prepare?.();
      const load = await this.loadCold(tab);
      if (beganOverH3(load)) return load;
    }
    throw new Error(`none of ${MAX_LOADS_UNTIL_H3} loads of ${this.site.entry} began over HTTP/3`);
  }

  /** Has the browser forget which origins offer HTTP/3, and at which it takes HTTP/3 for broken: for minutes after a pin. */
  async forgetAlternatives(tab: Page): Promise<void> {
    const devtools = await this.browser.context.newCDPSession(tab);
    await devtools.send('Network.clearBrowserCache');
    await devtools.detach();
  }

  /** The extension's popup for a tab, as a page. */
  async openPopup(tab: Page): Promise<Page> {
    const tabId = await this.browser.tabIdOf(this.own, tab.url());
    return this.browser.openOwn(`popup.html?tabId=${tabId}`);
  }

  /** The page's newest load, once the tab's load is recorded and it is another one than that with the id. */
  async nextLoad(tab: Page, before: number | null): Promise<StoredLoad> {
    const tabId = await this.browser.tabIdOf(this.own, tab.url());
    const deadline = performance.now() + RECORDED_TIMEOUT_MS;
    let seen = '';
    while (performance.now() < deadline) {
      // The answer names an earlier load where that of the tab does not show how long the page takes.
      const ofTab = await this.browser.ask(this.own, { type: 'latest', tabId, brief: true });
      if (!ofTab.ok) throw new Error(ofTab.error);
      const { phase, problem, loadId, incomplete } = ofTab;
      const newest = await this.#findNewestId();
      if (phase === 'recorded' && newest !== before) return this.#readNewest();
      seen = `its tab: ${phase} ${problem}; shown: load ${loadId}, ${incomplete?.kind ?? 'full'}; newest: load ${newest}`;
      if (phase === 'failed') break;
      await sleep(POLL_MS);
    }
    throw new Error(`no load of ${this.site.entry} after load ${before} was recorded: ${seen}`);
  }

  /** Changes the link at once, and that of the next loads. */
  async change(network: LabNetwork): Promise<void> {
    this.network = network;
    await this.#open.lab.configure(network);
  }

  /** What the servers answered since they were last asked. */
  async listAnswers(): Promise<LabLog['entries']> {
    return (await this.#open.lab.log()).entries;
  }

  /** Runs a command with the network of the browser. */
  runBeside(command: readonly string[]): void {
    const [program, ...words] = [...this.#open.lab.facts.enter, ...command];
    execFileSync(program!, words);
  }

  async close(): Promise<void> {
    await this.browser.close();
    await close(this.#open);
  }

  async #findNewestId(): Promise<number | null> {
    const answer = await this.browser.ask(this.own, { type: 'latest', url: this.site.entry, brief: true });
    if (!answer.ok) throw new Error(answer.error);
    return answer.loadId;
  }

  async #readNewest(): Promise<StoredLoad> {
    const answer = await this.browser.ask(this.own, { type: 'latest', url: this.site.entry });
    if (!answer.ok) throw new Error(answer.error);
    return answer.load!;
  }
}

interface OpenLab {
  page: PageSource;
  lab: Lab;
  network: LabNetwork;
  /** Folder of the helper's state. */
  folder: string;
}

/** Creates a local CA whose user has this home folder. @returns the environment of that user's browser */
async function trustLocalCa(home: string, origin: string): Promise<Record<string, string>> {
  const store = join(home, '.pki', 'nssdb');
  await mkdir(store, { recursive: true });
  execFileSync('certutil', ['-N', '-d', `sql:${store}`, '--empty-password']);
  const libcurl = await privateLibcurl();
  ca(home, 'create', origin);
  ca(home, 'trust');
  return { HOME: home, XDG_DATA_HOME: join(home, 'data'), HOPWISE_LIBCURL: libcurl };
}

async function close({ lab, folder }: OpenLab): Promise<void> {
  await lab.down();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Whether the document came over HTTP/3, and the extension takes the load for a later visit: on a busy machine TCP may win most races. */
const beganOverH3 = (load: StoredLoad): boolean =>
  load.recording.requests[0]!.protocol === 'h3' && new Visits([load]).judge(load) === 'later';
