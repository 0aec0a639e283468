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
