/** Firefox under measurement. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Lab } from '@hopwise/lab/client/lab';
import { UserError } from '@hopwise/lab/command/errors';
import type { ProtocolMode } from '@hopwise/lab/loads/protocol-args';
import { FIREFOX_EXTENSION_DIR, HOST_SCRIPT } from '@hopwise/lab/paths';
import {
  allowPins,
  FirefoxBrowser,
  firefoxPath,
  makeProfile,
} from '../../../../extension/test/firefox/firefox.ts';
import type { ArmSettings } from '../arms.ts';
import { LabPort } from './lab-port.ts';
import {
  type MeasuredBrowser,
  type MeasuredTab,
  type OwnPage,
  readRecorded,
  readUnrecorded,
} from './measured-browser.ts';

/** No cache of responses, images or whole pages. What the browser knows of Alt-Svc is kept. */
const WITHOUT_CACHE = {
  'browser.cache.disk.enable': false,
  'browser.cache.memory.enable': false,
  'image.cache.size': 0,
  'browser.sessionhistory.max_total_viewers': 0,
};

/**
 * @param folder scratch folder, which the caller removes after the browser was closed
 * @param usesCache whether it has the caches that people's browsers have
 */
export async function launchMeasuredFirefox(
  { protocol, extension, hasHelper }: ArmSettings,
  lab: Lab,
  folder: string,
  usesCache: boolean,
): Promise<MeasuredBrowser> {
  const env = {
    HOPWISE_CA_FILE: lab.caFile,
    XDG_STATE_HOME: join(folder, 'state'),
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_DATA_HOME: join(folder, 'data'),
  };
  makeProfile(folder, {
    prefs: { ...(usesCache ? {} : WITHOUT_CACHE), ...protocolPrefs(protocol, lab.hosts) },
    trusted: [lab.caFile],
  });
  if (hasHelper)
    execFileSync(process.execPath, [HOST_SCRIPT, 'install', '--browser', 'firefox'], {
      env: { ...process.env, ...env, HOME: folder },
    });
  const program = await lab.wrapper(requireFirefox());
  const port = await LabPort.open(lab);
  const dir = extension === 'none' ? null : FIREFOX_EXTENSION_DIR;
  const browser = await FirefoxBrowser.launch(dir, folder, env, { program, port: port.number }).catch(
    (error) => {
      port.close();
      throw error;
    },
  );
  const openOwn = async (): Promise<OwnPage> => {
    const page = await browser.openOwn('popup.html');
    return {
      ask: (request) => browser.ask(page, request),
      allowPins: () => allowPins(page),
      listUnrecorded: () => page.evaluate(readUnrecorded),
      listRecorded: () => page.evaluate(readRecorded),
      close: () => page.close(),
    };
  };
  if (extension === 'detailed') {
    // Firefox gives the permissions for it with the extension.
    const own = await openOwn();
    const answer = await own.ask({ type: 'change-settings', change: { recordsInDetail: true } });
    await own.close();
    if (!answer.ok) throw new Error(answer.error);
  }
  return {
    pid: browser.pid,
    openTab: () => openTab(browser),
    openOwn,
    close: async () => {
      await browser.close();
      port.close();
    },
  };
}

/** Preferences that hold a browser to a protocol. @param hosts those that HTTP/3 is forced on */
function protocolPrefs(protocol: ProtocolMode, hosts: readonly string[]): Record<string, string | boolean> {
  const withoutH3 = { 'network.http.http3.enable': false };
  switch (protocol) {
    case 'h1':
      return { ...withoutH3, 'network.http.http2.enabled': false };
    case 'h2':
      return withoutH3;
    case 'h3':
      return {
        'network.http.http3.alt-svc-mapping-for-testing': hosts.map((host) => `${host};h3=:443`).join(),
        'network.http.http3.force-use-alt-svc-mapping-for-testing': true,
      };
    case 'natural':
      return {};
  }
}

async function openTab(browser: FirefoxBrowser): Promise<MeasuredTab> {
  const tab = await browser.open('about:blank');
  return {
    addInitScript: (script) => tab.addInitScript(script),
    async load(url, limitMs) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => reject(new Error(`${url} did not load within ${limitMs} ms`)), limitMs);
      });
      const loaded = tab.goto(url).then(() => tab.evaluate(waitForLoad));
      await Promise.race([loaded, late]).finally(() => clearTimeout(timer));
    },
    evaluate: (what) => tab.evaluate(what),
    async close() {
      await tab.close();
      // Where a server closes a connection over HTTP/3, Firefox forgets that it offers it.
      await browser.closeConnections();
    },
  };
}

/** Runs in the page. WebDriver also reports a navigation as complete when a script closes a document that it wrote into a frame. */
async function waitForLoad(): Promise<void> {
  if (document.readyState !== 'complete')
    await new Promise((resolve) => addEventListener('load', resolve, { once: true }));
  // The entry's end of the load event is set after its listeners have run.
  await new Promise((resolve) => setTimeout(resolve));
}

/** @throws UserError where Firefox is not installed */
export function requireFirefox(): string {
  const path = firefoxPath();
  if (path === null)
    throw new UserError('Firefox is not installed: npm run setup, or set HOPWISE_FIREFOX to its path');
  return path;
}
