import { pacScript } from './pac.ts';
import { ProxyLogin } from './proxy-authenticator.ts';
import type { Route, Steering } from './steering.ts';

/** Private windows do not inherit it: there the extension could not answer the proxy, and the browser would ask the person. */
const SCOPE = 'regular_only';

/** Steers Chromium by a PAC script, which replaces all proxy settings and outlives the browser. */
export class ChromiumSteering implements Steering {
  readonly #onLost: (why: string) => void;
  readonly #login: ProxyLogin;
  #route: Route | null = null;
  #serial = Date.now();

  constructor(onLost: (why: string) => void) {
    this.#onLost = onLost;
    this.#login = new ProxyLogin(onLost);
  }

  async obstacle(): Promise<string> {
    const { levelOfControl, value } = await chrome.proxy.settings.get({});
    switch (levelOfControl) {
      case 'controlled_by_this_extension':
        return '';
      case 'controlled_by_other_extensions':
        return OTHER_EXTENSION;
      case 'controllable_by_this_extension':
        // Of the system's own settings only the helper can tell.
        return value.mode === 'system' || value.mode === 'direct' ? '' : OTHER_PROXY;
      default:
        return 'This browser’s proxy settings are fixed, by a policy or its command line. Pins would replace them, so there are none.';
    }
  }

  async steer(route: Route): Promise<void> {
    const obstacle = await this.obstacle();
    if (obstacle !== '') throw new Error(obstacle);
    const freed = this.#route?.origins.some((origin) => !route.origins.includes(origin)) ?? false;
    const wasOff = this.#route === null;
    this.#route = route;
    this.#login.begin(route);
    if (wasOff) chrome.proxy.settings.onChange.addListener(this.#watch);
    const data = pacScript(route, ++this.#serial);
    await chrome.proxy.settings.set({ value: { mode: 'pac_script', pacScript: { data } }, scope: SCOPE });
    if (freed) await forgetBrokenAlternatives();
  }

  async release(): Promise<void> {
    if (!('proxy' in chrome)) return;
    const wasOn = this.#route !== null;
    this.#route = null;
    this.#login.end();
    if (wasOn) chrome.proxy.settings.onChange.removeListener(this.#watch);
    const { levelOfControl } = await chrome.proxy.settings.get({});
    const isOurs = levelOfControl === 'controlled_by_this_extension';
    // Also where another extension's settings have come over ours: they would show again once that has gone.
    if (wasOn || isOurs) {
      await chrome.proxy.settings.clear({ scope: SCOPE });
      await forgetBrokenAlternatives();
    }
  }

  readonly #watch = ({ levelOfControl }: { levelOfControl: string }): void => {
    if (this.#route === null || levelOfControl === 'controlled_by_this_extension') return;
    this.#onLost(OTHER_EXTENSION);
  };
}

const OTHER_EXTENSION =
  'Another extension has this browser’s proxy settings. Pins would replace them, so there are none.';
const OTHER_PROXY = 'This browser uses a proxy of your own. Pins would replace it, so there are none.';

/**
 * Requests through a proxy have Chromium take HTTP/3 for broken at their origin, for some five minutes from then on. Emptying
 * the cache of what came after now removes nothing from it, and that memory with it.
 */
async function forgetBrokenAlternatives(): Promise<void> {
  if (!('browsingData' in chrome)) return;
  await chrome.browsingData.remove({ since: Date.now() }, { cache: true });
}
