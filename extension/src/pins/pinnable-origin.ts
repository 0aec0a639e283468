import { isLocalHost } from '@hopwise/contract';

/** A DNS name has at most 253 characters, a port 5 digits. */
const MAX_ORIGIN_CHARS = 270;
const HTTPS_ORIGIN = /^https:\/\/(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/;

/** Whether a text is an https origin exactly as browsers serialise it, which makes it safe to embed in a PAC script or a command. */
export function isPinnable(origin: string): boolean {
  if (origin.length > MAX_ORIGIN_CHARS || !HTTPS_ORIGIN.test(origin)) return false;
  return URL.canParse(origin) && new URL(origin).origin === origin;
}

/** Whether an origin is local by its name alone, so that it can only be pinned if the user allows it. */
export function isLocalOrigin(origin: string): boolean {
  return isLocalHost(new URL(origin).hostname);
}
