import { HOST_NAME } from '@hopwise/native-host/messages';

/**
 * Whether the arguments are those of a browser: Chromium passes the extension's origin first,
 * Firefox the manifest's path and the extension's id.
 */
export function launchedByBrowser([first = '', second = '']: readonly string[]): boolean {
  if (first.startsWith('chrome-extension://')) return true;
  return first.endsWith(`${HOST_NAME}.json`) && second !== '';
}
