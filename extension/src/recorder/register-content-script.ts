/**
 * Content scripts are registered for pages to which the user gives access. In the manifest they would make access to all sites a
 * condition of the installation.
 */
import { messageOf } from '@hopwise/contract';

const SCRIPT: chrome.scripting.RegisteredContentScript = {
  id: 'recorder',
  js: ['content.js'],
  matches: ['http://*/*', 'https://*/*'],
  allFrames: false,
  // Chromium takes a sixth to a quarter longer to load a page of 500 requests where it injects a script amid the load, however short, and no
  // longer than without one where it does at the start (`npm run bench -- recorder`).
  runAt: 'document_start',
  persistAcrossSessions: true,
};

const DETAILED: chrome.scripting.RegisteredContentScript = {
  id: 'detailed-recorder',
  js: ['content-detailed.js'],
  allFrames: true,
  runAt: 'document_start',
  persistAcrossSessions: false,
};

/** Browsers keep the registration until the extension is updated. */
export async function registerContentScript(): Promise<void> {
  const registered = await chrome.scripting.getRegisteredContentScripts({ ids: [SCRIPT.id] });
  if (registered.length === 0) await chrome.scripting.registerContentScripts([SCRIPT]);
}

/**
 * Changes the hosts whose pages have no light content script. The browser keeps them, oldest first, with the registration.
 *
 * @returns whether they are others now
 */
export async function changeUnrecordedHosts(
  change: (hosts: readonly string[]) => string[],
): Promise<boolean> {
  const [registered] = await chrome.scripting.getRegisteredContentScripts({ ids: [SCRIPT.id] });
  if (registered === undefined) return false;
  const before = (registered.excludeMatches ?? []).map((pattern) => pattern.split('/')[2]!);
  const hosts = change(before);
  if (hosts.join() === before.join()) return false;
  const excludeMatches = hosts.map((host) => `*://${host}/*`);
  await chrome.scripting.updateContentScripts([{ ...SCRIPT, excludeMatches }]);
  return true;
}

/** Has a page that began without the light content script recorded as far as the browser remembers it. Has no effect on a page that has the script. */
export async function recordShownPage(tabId: number): Promise<void> {
  const injection = { target: { tabId }, files: SCRIPT.js!, injectImmediately: true };
  // A page of the browser, or one that is gone by now.
  await chrome.scripting.executeScript(injection).catch(() => undefined);
}

/** Registers the content script for detailed recordings, for these pages and no others. @param matches match patterns */
export async function registerDetailedScript(matches: string[]): Promise<void> {
  const { scripting } = chrome;
  const [registered] = await scripting.getRegisteredContentScripts({ ids: [DETAILED.id] });
  try {
    if (matches.length === 0) {
      if (registered) await scripting.unregisterContentScripts({ ids: [DETAILED.id] });
    } else if (registered) await scripting.updateContentScripts([{ ...DETAILED, matches }]);
    else await scripting.registerContentScripts([{ ...DETAILED, matches }]);
  } catch (error) {
    // A URL of which the browser takes no pattern: these pages are recorded without what their elements show.
    console.warn('hopwise: detailed recordings:', messageOf(error));
  }
}
