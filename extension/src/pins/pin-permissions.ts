/** All optional permissions of the manifest: pins need them, and nothing else does. */
function listPinPermissions(): chrome.permissions.Permissions {
  const { optional_permissions } = chrome.runtime.getManifest();
  return { permissions: (optional_permissions ?? []) as chrome.runtime.ManifestPermission[] };
}

export function hasPinPermissions(): Promise<boolean> {
  return chrome.permissions.contains(listPinPermissions());
}

/** Shows the browser's permission prompt. Must run in a click handler: browsers reject the request otherwise. */
export function requestPinPermissions(): Promise<boolean> {
  return chrome.permissions.request(listPinPermissions());
}
