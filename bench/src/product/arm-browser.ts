/** The browser of an arm: visits its pages, and measures them from outside of the extension. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromiumPath } from '@hopwise/lab/browser/chromium';
import { siteInitScript } from '@hopwise/lab/browser/determinism';
import type { Lab } from '@hopwise/lab/client/lab';
import type { Site } from '@hopwise/lab/sites/site';
import type { LoadExport } from '../../../extension/src/messages/load-messages.ts';
import { type MemoryByKind, readMemory } from '../recorder/memory.ts';
import { type ProcessorTimes, readProcessorTimes, subtractTimes } from '../recorder/processor-time.ts';
import { ARMS, type ArmSettings, type BrowserName, type ProductArm } from './arms.ts';
import { launchMeasuredChromium } from './browsers/chromium.ts';
import { launchMeasuredFirefox, requireFirefox } from './browsers/firefox.ts';
import type { MeasuredBrowser } from './browsers/measured-browser.ts';
import { FreshRuns } from './fresh-runs.ts';
import type { StoredRun } from './store.ts';

const LAUNCH = { chromium: launchMeasuredChromium, firefox: launchMeasuredFirefox };

/** @throws UserError saying how to get a browser that is not installed */
export function requireBrowser(browser: BrowserName): void {
  ({ chromium: chromiumPath, firefox: requireFirefox })[browser]();
}

/** A visit as it is measured from outside of the extension. */
interface MeasuredVisit {
  /** The address that the tab shows, after redirects. */
  url: string;
  /** From navigationStart to the end of the load event. */
  pltMs: number;
  /** What came over the network, as far as the top document shows it. */
  bytes: number;
  /** Share of the top document's requests that used HTTP/3. */
  h3Share: number;
  /** Processor time of the browser and what it started, from the navigation until the extension has done its work. */
  processorMs: ProcessorTimes;
  /** After that. */
  memoryMb: MemoryByKind;
}

const LOAD_TIMEOUT_MS = 120_000;
const VERIFY_TIMEOUT_MS = 300_000;
/** By then a load is recorded as a rule, the autopilot has acted on it, and what was predicted of it is there. */
const SETTLE_MS = 6_000;
/** A heavy page is recorded later, as it keeps the machine busy after its load event. A person still looks at it, at least for so long. */
const RECORD_LIMIT_MS = 10_000;
/** More entries than a page's own buffer of 250 holds, so that bytes and protocols of all requests are counted. */
const KEEP_ENTRIES = 'performance.setResourceTimingBufferSize(10_000)';

/** A browser with a profile of its own, on the lab's link. */
export class ArmBrowser {
  readonly #browser: MeasuredBrowser;
  readonly #arm: ArmSettings;
  readonly #folder: string;
  readonly #verified = new Set<string>();
  readonly #runs = new FreshRuns();
  /** When the last visit began, milliseconds since 1970. */
  #visitedAt = 0;

  private constructor(browser: MeasuredBrowser, arm: ArmSettings, folder: string) {
    this.#browser = browser;
    this.#arm = arm;
    this.#folder = folder;
  }

  static async launch(
    name: BrowserName,
    armName: ProductArm,
    lab: Lab,
    usesCache: boolean,
  ): Promise<ArmBrowser> {
    const arm: ArmSettings = ARMS[armName];
    const folder = await mkdtemp(join(tmpdir(), 'hopwise-product-'));
    let browser: MeasuredBrowser | undefined;
    try {
      browser = await LAUNCH[name](arm, lab, folder, usesCache);
      await applySettings(browser, arm.changes);
      return new ArmBrowser(browser, arm, folder);
    } catch (error) {
      await browser?.close();
      await removeFolder(folder);
      throw error;
    }
  }

  /**
   * Loads a page, and waits until the extension has done its work. Connections are the caller's business.
   *
   * @param onNavigation called right before the navigation, `onLoad` right after the load event
   * @throws Error when it does not load in time
   */
  async visit(
    site: Site,
    { onNavigation, onLoad }: { onNavigation(): Promise<void>; onLoad(): Promise<void> },
  ): Promise<MeasuredVisit> {
    const tab = await this.#browser.openTab();
    try {
      await tab.addInitScript(KEEP_ENTRIES);
      const { initScript } = siteInitScript(site);
      if (initScript !== undefined) await tab.addInitScript(initScript);
      await onNavigation();
      const startedAt = Date.now();
      this.#visitedAt = startedAt;
      const before = readProcessorTimes(this.#browser.pid);
      await tab.load(site.entry, LOAD_TIMEOUT_MS);
      await onLoad();
      await sleep(SETTLE_MS);
      const processorMs = subtractTimes(readProcessorTimes(this.#browser.pid), before);
      const memoryMb = readMemory(this.#browser.pid);
      const measured = await tab.evaluate(() => {
        const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
        const resources = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
        const all = [navigation!, ...resources];
        return {
          url: location.href,
          pltMs: navigation!.loadEventEnd,
          bytes: all.reduce((sum, { transferSize }) => sum + transferSize, 0),
          h3Share: all.filter(({ nextHopProtocol }) => nextHopProtocol === 'h3').length / all.length,
        };
      });
      if (isRecorded(this.#arm)) await this.#waitForRecord(measured.url, startedAt);
      return { ...measured, processorMs, memoryMb };
    } finally {
      await tab.close();
    }
  }

  /** Waits until a load that began at `startedAt` or later is recorded, or `RECORD_LIMIT_MS` long, unless its host rests. */
  async #waitForRecord(url: string, startedAt: number): Promise<void> {
    const own = await this.#browser.openOwn();
    try {
      const { hostname } = new URL(url);
      for (const deadline = Date.now() + RECORD_LIMIT_MS; Date.now() < deadline; await sleep(250)) {
        const recorded = await own.listRecorded();
        if (recorded.some((load) => isSamePage(load.url, url) && Date.parse(load.recordedAt) >= startedAt))
          return;
        if ((await own.listUnrecorded()).includes(`*://${hostname}/*`)) return;
      }
    } finally {
      await own.close();
    }
  }

  /** Has the helper verify a page that was visited, once, as "Verify" in the popup does, in arms that verify. @throws Error where that fails */
  async verify(url: string): Promise<void> {
    if (!this.#arm.verifies || this.#verified.has(url)) return;
    this.#verified.add(url);
    const own = await this.#browser.openOwn();
    try {
      let answer = await own.ask({ type: 'verify', url });
      const deadline = Date.now() + VERIFY_TIMEOUT_MS;
      while (answer.ok && answer.state === 'running' && Date.now() < deadline) {
        await sleep(250);
        answer = await own.ask({ type: 'verification', url });
      }
      if (!answer.ok) throw new Error(`${url} is not verified: ${answer.error}`);
      if (answer.state === 'failed') throw new Error(`${url} is not verified: ${answer.message}`);
      if (answer.state !== 'done') throw new Error(`${url} is not verified in time`);
      // Answered once the autopilot has acted on it.
      await own.ask({ type: 'autopilot' });
    } finally {
      await own.close();
    }
  }

  /**
   * Lists the autopilot's runs of a page and of the whole network that are in force, or have ended since this was last asked.
   *
   * @returns null in an arm without the autopilot
   */
  async listRuns(url: string): Promise<StoredRun[] | null> {
    if (!this.#arm.changes.some(({ type }) => type === 'change-autopilot')) return null;
    const own = await this.#browser.openOwn();
    try {
      const answer = await own.ask({ type: 'autopilot' });
      if (!answer.ok) throw new Error(answer.error);
      return this.#runs.select(answer.runs, url);
    } finally {
      await own.close();
    }
  }

  /**
   * The newest load of a page as "Export JSON" saves it; null in an arm without the extension, and where the last visit was not recorded.
   *
   * @throws Error where the extension has none
   */
  async exportLoad(url: string): Promise<LoadExport | null> {
    if (!isRecorded(this.#arm)) return null;
    const own = await this.#browser.openOwn();
    try {
      const answer = await own.ask({ type: 'export', url });
      if (!answer.ok) throw new Error(answer.error);
      return Date.parse(answer.export.recording.recordedAt) >= this.#visitedAt ? answer.export : null;
    } finally {
      await own.close();
    }
  }

  /** Processor time that the browser and what it started have used so far. */
  readProcessorTimes(): ProcessorTimes {
    return readProcessorTimes(this.#browser.pid);
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await removeFolder(this.#folder);
  }
}

/** Query strings are stored as numbers. */
const isSamePage = (a: string, b: string): boolean => a.split(/[?#]/)[0] === b.split(/[?#]/)[0];

/** Whether the extension records the loads of an arm. */
const isRecorded = ({ extension }: ArmSettings): boolean => extension === 'whole' || extension === 'detailed';

const removeFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 5 });

async function applySettings(browser: MeasuredBrowser, changes: ArmSettings['changes']): Promise<void> {
  if (changes.length === 0) return;
  const own = await browser.openOwn();
  await own.allowPins();
  for (const change of changes) {
    const answer = await own.ask(change);
    if (!answer.ok) throw new Error(answer.error);
  }
  await own.close();
}
