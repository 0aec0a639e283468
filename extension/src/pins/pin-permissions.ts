import { ALL_SITES } from '../ui/site-access.ts';

/** The optional permissions that pins need, in Chromium and in Firefox. */
const FOR_PINS: readonly string[] = ['browsingData', 'proxy'];

/**
 * What pins need. Access to all sites, as any page can request something from a pinned origin: Firefox asks an extension for the proxy of
 * a request only where it has access, and what pins do to a page shows only there.
 */
function listPinPermissions(): chrome.permissions.Permissions {
  const { optional_permissions = [] } = chrome.runtime.getManifest();
  const forPins = optional_permissions.filter((name) => FOR_PINS.includes(name));
  return { ...ALL_SITES, permissions: forPins as chrome.runtime.ManifestPermission[] };
}

export function hasPinPermissions(): Promise<boolean> {
  return chrome.permissions.contains(listPinPermissions());
}

/** Shows the browser's permission prompt. Must run in a click handler: browsers reject the request otherwise. */
export function requestPinPermissions(): Promise<boolean> {
  return chrome.permissions.request(listPinPermissions());
}
