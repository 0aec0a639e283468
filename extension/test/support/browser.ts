import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXTENSION_ID } from '@hopwise/contract';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { DISABLED_FEATURES } from '../../../lab/src/browser/chromium-features.ts';
import { writeDetailedEdition } from '../../../lab/src/browser/detailed-edition.ts';
import type { PageAnswers, PageRequest } from '../../src/background/page-requests.ts';

/** Real Chromium with the extension, in its own profile. */
export interface ExtensionBrowser {
  context: BrowserContext;
  /** Its user data directory. */
  profile: string;
  /** A page of the extension, such as `panel.html?tabId=1`. */
  openOwn(path: string): Promise<Page>;
  /** Sends a message to the worker from a page of the extension. */
  ask<T extends PageRequest>(page: Page, request: T): Promise<PageAnswers[T['type']]>;
  /** Tab id of a page, by its URL. */
  tabIdOf(own: Page, url: string): Promise<number>;
  /** Stops the worker, like the browser does when it is idle; the next event restarts it. */
  stopWorker(own: Page): Promise<void>;
  /**
   * Starts the browser again with the same profile, after it closed or was killed. This object is of no further use.
   *
   * @returns the new one; no page of the extension has been opened in it
   */
  restart(end: 'close' | 'kill'): Promise<ExtensionBrowser>;
  close(): Promise<void>;
}

/**
 * @param without default arguments of Playwright to leave out
 * @param env added to this process's environment; the browser passes it on to native hosts
 * @param locale of the pages; on Linux the browser's own is `env.LANGUAGE`
 * @param recordsInDetail whether every load is recorded in detail, which the extension is allowed from the start; as it ships none is
 */
export async function launch(
  extensionDir: string,
  args: string[] = [],
  without: string[] = [],
  env: Record<string, string> = {},
  locale = 'en-US',
  recordsInDetail = true,
): Promise<ExtensionBrowser> {
  const profile = await mkdtemp(join(tmpdir(), 'hopwise-test-'));
  const dir = recordsInDetail
    ? await writeDetailedEdition(extensionDir, join(profile, 'extension'))
    : extensionDir;
  const start = () => launchChromium(profile, [...loadExtension(dir), ...args], without, env, locale);
  const browser = control(await start(), profile, start);
  // The worker does not observe a page that is opened before its first run.
  const first = await browser.openOwn('devtools.html');
  await first.evaluate(() => chrome.runtime.sendMessage({ type: 'latest' }));
  if (recordsInDetail) await browser.ask(first, { type: 'change-settings', change: { recordsInDetail } });
  await first.close();
  return browser;
}

function control(
  context: BrowserContext,
  profile: string,
  start: () => Promise<BrowserContext>,
): ExtensionBrowser {
  const openOwn = async (path: string) => {
    const page = await context.newPage();
    await page.goto(`chrome-extension://${EXTENSION_ID}/${path}`);
    return page;
  };
  return {
    context,
    profile,
    openOwn,
    ask: (page, request) => page.evaluate((message) => chrome.runtime.sendMessage(message), request),
    async tabIdOf(page, url) {
      const find = () =>
        page.evaluate(async (wanted) => {
          const tabs = await chrome.tabs.query({});
          return tabs.find((tab) => tab.url === wanted)?.id ?? null;
        }, url);
      // The browser may tell a tab's URL a moment after the page has loaded.
      for (let waitedMs = 0; waitedMs < 5_000; waitedMs += 100) {
        const id = await find();
        if (id !== null) return id;
        await page.waitForTimeout(100);
      }
      throw new Error(`no tab shows ${url}`);
    },
    async stopWorker(own) {
      const devtools = await context.newCDPSession(own);
      // Waits for the event instead of polling: an event may restart the worker as the same target a moment later.
      const stopped = new Promise<void>((resolve) => {
        devtools.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
          if (versions.some(({ runningStatus }) => runningStatus === 'stopped')) resolve();
        });
      });
      await devtools.send('ServiceWorker.enable');
      await devtools.send('ServiceWorker.stopAllWorkers');
      await stopped;
      await devtools.detach();
    },
    async restart(end) {
      const closed = new Promise((resolve) => context.once('close', resolve));
      if (end === 'close') await context.close();
      else process.kill(findBrowserProcess(profile), 'SIGKILL');
      await closed;
      return control(await start(), profile, start);
    },
    async close() {
      await context.close();
      // The browser may still write to it while it exits.
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Process id of the browser that uses a profile; its child processes have a `--type`. */
export function findBrowserProcess(profile: string): number {
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8');
      if (command.includes(`--user-data-dir=${profile}`) && !command.includes('--type=')) return Number(name);
    } catch {
      // It has ended in the meantime.
    }
  }
  throw new Error(`no browser uses ${profile}`);
}

/** Arguments with which Chromium loads one extension from its folder, and no other. */
export const loadExtension = (dir: string): string[] => [
  `--disable-extensions-except=${dir}`,
  `--load-extension=${dir}`,
];

/**
 * Starts Chromium as in all tests, without an extension unless the arguments name one.
 *
 * @param profile its user data directory
 */
export function launchChromium(
  profile: string,
  args: string[] = [],
  without: string[] = [],
  env: Record<string, string> = {},
  locale = 'en-US',
): Promise<BrowserContext> {
  return chromium.launchPersistentContext(profile, {
    executablePath: env.HOPWISE_CHROMIUM ?? process.env.HOPWISE_CHROMIUM ?? '/usr/bin/chromium',
    headless: false,
    locale,
    env: { ...(process.env as Record<string, string>), ...env },
    ignoreDefaultArgs: ['--disable-extensions', ...without],
    args: [
      '--headless=new',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      DISABLED_FEATURES,
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      ...args,
    ],
  });
}
