/**
 * The permissions by which the browser tells the extension of requests, and lets it add a header. While any extension has one of them,
 * Chromium passes every request through its own process, whether anything listens or not, so that there they are optional. Chromium
 * counts such extensions when it loads them, and takes one away from the count when it unloads one that has been given a permission in
 * between: giving or removing a permission has no effect before the browser starts again, unless another extension has one.
 */
import { StoredItem } from './stored-item.ts';

const DETAIL: chrome.permissions.Permissions = { permissions: ['webRequest'] };
const START_RATE: chrome.permissions.Permissions = {
  permissions: ['webRequest', 'declarativeNetRequestWithHostAccess'],
};

/** Whether the browser has to start before it tells the extension of requests. */
const waiting = new StoredItem('own', 'detail-waits', (value) => value === true);

/** `waiting`: given, and without effect until the browser starts again. */
export type DetailAccess = 'missing' | 'waiting' | 'given';

/** Whether the user decides on it; where it is required, it costs nothing by itself. */
export function isDetailOptional(): boolean {
  const { optional_permissions = [] } = chrome.runtime.getManifest();
  return optional_permissions.includes('webRequest');
}

export async function readDetailAccess(): Promise<DetailAccess> {
  if (!(await chrome.permissions.contains(DETAIL))) return 'missing';
  return (await waiting.read()) ? 'waiting' : 'given';
}

export const canAnnounceStartRate = (): Promise<boolean> => chrome.permissions.contains(START_RATE);

/** Asks for what detailed recordings need. To be called in the handler of a click. @returns what is given now */
export const requestDetail = (): Promise<DetailAccess> => request(DETAIL);

/** Asks for what the start rate needs: its servers are known by their headers. */
export const requestStartRate = (): Promise<DetailAccess> => request(START_RATE);

async function request(permissions: chrome.permissions.Permissions): Promise<DetailAccess> {
  const before = await readDetailAccess();
  if ((await chrome.permissions.request(permissions)) && before === 'missing') await waiting.write(true);
  return readDetailAccess();
}

/** Gives back what `requestDetail` and `requestStartRate` asked for. */
export async function removeDetail(): Promise<void> {
  await chrome.permissions.remove(START_RATE);
  await waiting.remove();
}

/** The browser has started again, or has reported a request: the permission works now. */
export async function endWaiting(): Promise<void> {
  if (await waiting.read()) await waiting.remove();
}
