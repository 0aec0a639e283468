import { ALL_SITES } from '../ui/site-access.ts';

/**
 * What pins need of the manifest's optional permissions: `history` is for the options page. Access to all sites, as browsers ask an
 * extension for the proxy's password only where it has access to the page and to what the page requests.
 */
function listPinPermissions(): chrome.permissions.Permissions {
  const { optional_permissions = [] } = chrome.runtime.getManifest();
  const forPins = optional_permissions.filter((name) => name !== 'history');
  return { ...ALL_SITES, permissions: forPins as chrome.runtime.ManifestPermission[] };
}

export function hasPinPermissions(): Promise<boolean> {
  return chrome.permissions.contains(listPinPermissions());
}

/** Shows the browser's permission prompt. Must run in a click handler: browsers reject the request otherwise. */
export function requestPinPermissions(): Promise<boolean> {
  return chrome.permissions.request(listPinPermissions());
}
