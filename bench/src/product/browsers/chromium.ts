/** Chromium under measurement. */
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromiumPath } from '@hopwise/lab/browser/chromium';
import { writeDetailedEdition } from '@hopwise/lab/browser/detailed-edition';
import type { Lab } from '@hopwise/lab/client/lab';
import { protocolArgs } from '@hopwise/lab/loads/protocol-args';
import { EXTENSION_DIR, HOST_SCRIPT } from '@hopwise/lab/paths';
import type { BrowserContext } from 'playwright-core';
import { allowPins } from '../../../../extension/test/pins/pinning-chromium.ts';
import {
  type ExtensionBrowser,
  findBrowserProcess,
  launch,
  launchChromium,
} from '../../../../extension/test/support/browser.ts';
import type { ArmSettings } from '../arms.ts';
import {
  type MeasuredBrowser,
  type MeasuredTab,
  type OwnPage,
  readRecorded,
  readUnrecorded,
} from './measured-browser.ts';

/**
 * @param folder scratch folder, which the caller removes after the browser was closed
 * @param usesCache whether it has the HTTP cache that people's browsers have
 */
export async function launchMeasuredChromium(
  { protocol, extension, hasHelper }: ArmSettings,
  lab: Lab,
  folder: string,
  usesCache: boolean,
): Promise<MeasuredBrowser> {
  const args = [
    ...protocolArgs(protocol, lab.hosts),
    `--ignore-certificate-errors-spki-list=${lab.caSpki}`,
    // To clear the cache after each visit would also clear what the browser knows of Alt-Svc.
    ...(usesCache ? [] : ['--disk-cache-dir=/dev/null']),
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
    const openOwn = () => Promise.reject(new Error('this browser has no extension'));
    return control(context, profile, openOwn, () => context.close());
  }
  const dir = extension === 'permissions' ? await writeIdleExtension(folder) : EXTENSION_DIR;
  const browser = await launch(dir, args, [], env, 'en-US', extension === 'detailed');
  if (hasHelper) execFileSync(process.execPath, [HOST_SCRIPT, 'install', '--user-data-dir', browser.profile]);
  return control(
    browser.context,
    browser.profile,
    () => openOwn(browser),
    () => browser.close(),
  );
}

function control(
  context: BrowserContext,
  profile: string,
  openOwn: MeasuredBrowser['openOwn'],
  close: MeasuredBrowser['close'],
): MeasuredBrowser {
  return { pid: findBrowserProcess(profile), openTab: () => openTab(context), openOwn, close };
}

async function openTab(context: BrowserContext): Promise<MeasuredTab> {
  const page = await context.newPage();
  return {
    addInitScript: (script) => page.addInitScript(script),
    load: async (url, limitMs) => void (await page.goto(url, { waitUntil: 'load', timeout: limitMs })),
    evaluate: (what) => page.evaluate(what),
    close: () => page.close(),
  };
}

async function openOwn(browser: ExtensionBrowser): Promise<OwnPage> {
  const page = await browser.openOwn('devtools.html');
  return {
    ask: (request) => browser.ask(page, request),
    allowPins: () => allowPins(page),
    listUnrecorded: () => page.evaluate(readUnrecorded),
    listRecorded: () => page.evaluate(readRecorded),
    close: () => page.close(),
  };
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
