import type { PlainKey } from '../../language/translate.ts';
import { ChromiumSteering } from './chromium-steering.ts';
import { FirefoxSteering } from './firefox-steering.ts';
import type { Steering } from './steering.ts';

/** @param onLost called with the key of a message when another party takes over the browser's proxy settings */
export function createSteering(onLost: (why: PlainKey) => void): Steering {
  // In Firefox `chrome.proxy` is undefined until the user grants the permission. The property exists even then, so `in` does
  // not detect it.
  const isFirefox = !chrome.proxy || 'onRequest' in chrome.proxy;
  return isFirefox ? new FirefoxSteering(onLost) : new ChromiumSteering(onLost);
}
