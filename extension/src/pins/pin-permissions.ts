/** The optional permissions of the manifest that pins need: `history` is for the options page. */
function listPinPermissions(): chrome.permissions.Permissions {
  const { optional_permissions = [] } = chrome.runtime.getManifest();
  const forPins = optional_permissions.filter((name) => name !== 'history');
  return { permissions: forPins as chrome.runtime.ManifestPermission[] };
}

export function hasPinPermissions(): Promise<boolean> {
  return chrome.permissions.contains(listPinPermissions());
}

/** Shows the browser's permission prompt. Must run in a click handler: browsers reject the request otherwise. */
export function requestPinPermissions(): Promise<boolean> {
  return chrome.permissions.request(listPinPermissions());
}
