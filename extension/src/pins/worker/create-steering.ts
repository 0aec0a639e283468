import { ChromiumSteering } from './chromium-steering.ts';
import { FirefoxSteering } from './firefox-steering.ts';
import type { Steering } from './steering.ts';

/** @param onLost told why the browser no longer follows, in a sentence for a person */
export function steeringOfThisBrowser(onLost: (why: string) => void): Steering {
  // Without the permission there is no `chrome.proxy`, which is so in Firefox until the person grants it.
  // `in` does not tell: in Firefox the name is there, without a value.
  const isFirefox = !chrome.proxy || 'onRequest' in chrome.proxy;
  return isFirefox ? new FirefoxSteering(onLost) : new ChromiumSteering(onLost);
}
