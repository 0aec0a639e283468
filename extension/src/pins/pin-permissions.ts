/** What pins need and the person is asked for only then: all of the manifest's optional permissions. */
function pinPermissions(): chrome.permissions.Permissions {
  const { optional_permissions } = chrome.runtime.getManifest();
  return { permissions: (optional_permissions ?? []) as chrome.runtime.ManifestPermission[] };
}

export function arePinsAllowed(): Promise<boolean> {
  return chrome.permissions.contains(pinPermissions());
}

/** Asks the person, who must have clicked just now. */
export function askToAllowPins(): Promise<boolean> {
  return chrome.permissions.request(pinPermissions());
}
