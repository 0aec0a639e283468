/** The permission to hear of pages that are removed from the browser's history. */
export const HISTORY: chrome.permissions.Permissions = { permissions: ['history'] };
