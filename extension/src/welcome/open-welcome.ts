/** Opens the first page once, after an installation from a store: not after updates, nor when a developer loads the extension. */
export async function openWelcome(reason: `${chrome.runtime.OnInstalledReason}`): Promise<void> {
  if (reason !== 'install') return;
  const { installType } = await chrome.management.getSelf();
  if (installType === 'development') return;
  await chrome.tabs.create({ url: chrome.runtime.getURL('welcome.html') });
}
