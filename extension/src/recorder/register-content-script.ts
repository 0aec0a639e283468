const SCRIPT: chrome.scripting.RegisteredContentScript = {
  id: 'recorder',
  js: ['content.js'],
  matches: ['http://*/*', 'https://*/*'],
  allFrames: true,
  runAt: 'document_start',
  persistAcrossSessions: true,
};

/**
 * Registers the content script for pages to which the user gives access. In the manifest it would make access to all sites a
 * condition of the installation. Browsers keep the registration until the extension is updated.
 */
export async function registerContentScript(): Promise<void> {
  const registered = await chrome.scripting.getRegisteredContentScripts({ ids: [SCRIPT.id] });
  if (registered.length === 0) await chrome.scripting.registerContentScripts([SCRIPT]);
}
