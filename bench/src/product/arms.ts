/** The browsers that are compared: real Chromium as it ships, without the extension and with it in several settings. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromiumPath } from '@hopwise/lab/browser/chromium';
import { writeDetailedEdition } from '@hopwise/lab/browser/detailed-edition';
import { siteInitScript } from '@hopwise/lab/browser/determinism';
import type { Lab } from '@hopwise/lab/client/lab';
import { type ProtocolMode, protocolArgs } from '@hopwise/lab/loads/protocol-args';
import { EXTENSION_DIR, HOST_SCRIPT } from '@hopwise/lab/paths';
import type { Site } from '@hopwise/lab/sites/site';
import type { BrowserContext } from 'playwright-core';
import { allowPins } from '../../../extension/test/pins/pinning-chromium.ts';
import {
  type ExtensionBrowser,
  findBrowserProcess,
  launch,
  launchChromium,
} from '../../../extension/test/support/browser.ts';
import { type ProcessorTimes, readProcessorTimes, subtractTimes } from '../recorder/processor-time.ts';

/** How an arm differs from the browser alone. */
interface Arm {
  says: string;
  protocol: ProtocolMode;
  /** `detailed`: allowed to record in detail from the start. `permissions`: one that does nothing, and has the same permissions. */
  extension: 'none' | 'whole' | 'detailed' | 'permissions';
  hasHelper: boolean;
  /** Whether each page is verified once, after its first visit. */
  verifies: boolean;
  /** Changes of the extension's settings, as its options page sends them. */
  changes: (
    | { type: 'change-autopilot'; change: { isOn?: boolean; explores?: boolean } }
    | { type: 'change-settings'; change: { checksNetworks: boolean } }
    | { type: 'switch-network'; keepsOffH3: boolean }
  )[];
}

const ALONE: Arm = {
  says: 'the browser alone',
  protocol: 'natural',
  extension: 'none',
  hasHelper: false,
  verifies: false,
  changes: [],
};
const AUTO: Arm = {
  ...ALONE,
  says: 'the extension, the helper and the autopilot',
  extension: 'whole',
  hasHelper: true,
  changes: [{ type: 'change-autopilot', change: { isOn: true } }],
};

export const ARMS = {
  off: ALONE,
  'off-again': { ...ALONE, says: 'the browser alone, measured a second time' },
  record: { ...ALONE, says: 'the extension alone, as it is installed', extension: 'whole' },
  permissions: {
    ...ALONE,
    says: 'an extension that does nothing and has the permissions of `detail`: what the browser itself does for them',
    extension: 'permissions',
  },
  detail: {
    ...ALONE,
    says: 'the extension alone, recording every load in detail',
    extension: 'detailed',
  },
  auto: AUTO,
  check: {
    ...AUTO,
    says: 'as `auto`, and it may check new networks by a small transfer',
    changes: [...AUTO.changes, { type: 'change-settings', change: { checksNetworks: true } }],
  },
  verify: { ...AUTO, says: 'as `auto`, and each page is verified after its first visit', verifies: true },
  explore: {
    ...AUTO,
    says: 'as `auto`, and it may try what is uncertain',
    changes: [{ type: 'change-autopilot', change: { isOn: true, explores: true } }],
  },
  'without-h3': {
    ...AUTO,
    says: 'the extension and the helper, HTTP/3 kept off on the network by the user',
    changes: [{ type: 'switch-network', keepsOffH3: true }],
  },
  h1: { ...ALONE, says: 'the browser alone, HTTP/1.1 forced', protocol: 'h1' },
  h2: { ...ALONE, says: 'the browser alone, without HTTP/3', protocol: 'h2' },
  h3: { ...ALONE, says: 'the browser alone, HTTP/3 forced', protocol: 'h3' },
} as const satisfies Record<string, Arm>;

export type ProductArm = keyof typeof ARMS;
export const ARM_NAMES = Object.keys(ARMS) as ProductArm[];

/** A visit as it is measured from outside of the extension. */
interface MeasuredVisit {
  /** From navigationStart to the end of the load event. */
  pltMs: number;
  /** What came over the network, as far as the top document shows it. */
  bytes: number;
  /** Share of the top document's requests that used HTTP/3. */
  h3Share: number;
  /** Processor time of the browser and what it started, from the navigation until the extension has done its work. */
  processorMs: ProcessorTimes;
}

const LOAD_TIMEOUT_MS = 120_000;
const VERIFY_TIMEOUT_MS = 300_000;
/** By then a load is recorded, and the autopilot has acted on it. */
const SETTLE_MS = 2_500;

/** A browser with a profile of its own, on the lab's link. */
export class ArmBrowser {
  readonly #context: BrowserContext;
  readonly #pid: number;
  readonly #close: () => Promise<void>;
  /** The browser as its pages are asked; null for arms that do not verify. */
  readonly #verifier: ExtensionBrowser | null;
  readonly #verified = new Set<string>();

  private constructor(
    context: BrowserContext,
    profile: string,
    close: () => Promise<void>,
    verifier: ExtensionBrowser | null = null,
  ) {
    this.#context = context;
    this.#verifier = verifier;
    this.#pid = findBrowserProcess(profile);
    this.#close = close;
  }

  static async launch(name: ProductArm, lab: Lab): Promise<ArmBrowser> {
    const { protocol, extension, hasHelper, verifies, changes }: Arm = ARMS[name];
    const folder = await mkdtemp(join(tmpdir(), 'hopwise-product-'));
    const removeFolder = () => rm(folder, { recursive: true, force: true, maxRetries: 5 });
    const args = [
      ...protocolArgs(protocol, lab.hosts),
      `--ignore-certificate-errors-spki-list=${lab.caSpki}`,
      // No cache. To clear it after each visit would also clear what the browser knows of Alt-Svc.
      '--disk-cache-dir=/dev/null',
    ];
    const env = {
      HOPWISE_CHROMIUM: await lab.wrapper(chromiumPath()),
      HOPWISE_CA_FILE: lab.caFile,
      XDG_STATE_HOME: join(folder, 'state'),
      XDG_CONFIG_HOME: join(folder, 'config'),
    };
    if (extension === 'none') {
      const profile = join(folder, 'profile');
      await mkdir(profile);
      const context = await launchChromium(profile, args, [], env);
      return new ArmBrowser(context, profile, async () => {
        await context.close();
        await removeFolder();
      });
    }
    const dir = extension === 'permissions' ? await writeIdleExtension(folder) : EXTENSION_DIR;
    const browser = await launch(dir, args, [], env, 'en-US', extension === 'detailed');
    if (hasHelper)
      execFileSync(process.execPath, [HOST_SCRIPT, 'install', '--user-data-dir', browser.profile]);
    await applySettings(browser, changes);
    const close = async () => {
      await browser.close();
      await removeFolder();
    };
    return new ArmBrowser(browser.context, browser.profile, close, verifies ? browser : null);
  }

  /**
   * Loads a page without a cache, and waits until the extension has done its work. Connections are the caller's business.
   *
   * @param onNavigation called right before the navigation, `onLoad` right after the load event
   * @throws Error when it does not load in time
   */
  async visit(
    site: Site,
    { onNavigation, onLoad }: { onNavigation(): Promise<void>; onLoad(): Promise<void> },
  ): Promise<MeasuredVisit> {
    const tab = await this.#context.newPage();
    try {
      const { initScript } = siteInitScript(site);
      if (initScript !== undefined) await tab.addInitScript(initScript);
      await onNavigation();
      const before = readProcessorTimes(this.#pid);
      await tab.goto(site.entry, { waitUntil: 'load', timeout: LOAD_TIMEOUT_MS });
      await onLoad();
      await sleep(SETTLE_MS);
      const processorMs = subtractTimes(readProcessorTimes(this.#pid), before);
      const measured = await tab.evaluate(() => {
        const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
        const resources = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
        const all = [navigation!, ...resources];
        return {
          pltMs: navigation!.loadEventEnd,
          bytes: all.reduce((sum, { transferSize }) => sum + transferSize, 0),
          h3Share: all.filter(({ nextHopProtocol }) => nextHopProtocol === 'h3').length / all.length,
        };
      });
      return { ...measured, processorMs };
    } finally {
      await tab.close();
    }
  }

  /** Has the helper verify a page that was visited, once, as "Verify" in the popup does, in arms that verify. @throws Error where that fails */
  async verify(url: string): Promise<void> {
    const browser = this.#verifier;
    if (browser === null || this.#verified.has(url)) return;
    this.#verified.add(url);
    const own = await browser.openOwn('devtools.html');
    try {
      let answer = await browser.ask(own, { type: 'verify', url });
      const deadline = Date.now() + VERIFY_TIMEOUT_MS;
      while (answer.ok && answer.state === 'running' && Date.now() < deadline) {
        await sleep(250);
        answer = await browser.ask(own, { type: 'verification', url });
      }
      if (!answer.ok) throw new Error(`${url} is not verified: ${answer.error}`);
      if (answer.state === 'failed') throw new Error(`${url} is not verified: ${answer.message}`);
      if (answer.state !== 'done') throw new Error(`${url} is not verified in time`);
      // Answered once the autopilot has acted on it.
      await browser.ask(own, { type: 'autopilot' });
    } finally {
      await own.close();
    }
  }

  close(): Promise<void> {
    return this.#close();
  }
}

/** Answers the first message of a test's browser, which would otherwise not begin. */
const IDLE_WORKER =
  'chrome.runtime.onMessage.addListener((message, sender, answer) => answer({ ok: true }));';

/** Writes an extension that does nothing, with the permissions of the one that records in detail. @returns its folder */
async function writeIdleExtension(folder: string): Promise<string> {
  const edition = await writeDetailedEdition(EXTENSION_DIR, join(folder, 'detailed'));
  const built = JSON.parse(await readFile(join(edition, 'manifest.json'), 'utf8'));
  const dir = join(folder, 'extension');
  const { manifest_version, version, key, permissions, host_permissions } = built;
  const manifest = {
    name: 'idle',
    manifest_version,
    version,
    key,
    permissions,
    host_permissions,
    background: { service_worker: 'worker.js' },
    devtools_page: 'devtools.html',
  };
  await mkdir(dir);
  await writeFile(join(dir, 'manifest.json'), JSON.stringify(manifest));
  await writeFile(join(dir, 'worker.js'), IDLE_WORKER);
  await writeFile(join(dir, 'devtools.html'), '');
  return dir;
}

async function applySettings(browser: ExtensionBrowser, changes: Arm['changes']): Promise<void> {
  if (changes.length === 0) return;
  const own = await browser.openOwn('devtools.html');
  await allowPins(own);
  for (const change of changes) {
    const answer = await browser.ask(own, change);
    if (!answer.ok) throw new Error(answer.error);
  }
  await own.close();
}
