import { ProxyLogin } from './proxy-authenticator.ts';
import { PROXY_HOST, type Route, type Steering } from './steering.ts';

/** What is used of Firefox's `proxy` API, where Chromium has another. */
interface FirefoxProxy {
  onRequest: {
    addListener(
      listener: (request: { url: string }) => ProxyInfo[] | undefined,
      filter: { urls: string[] },
    ): void;
    removeListener(listener: (request: { url: string }) => ProxyInfo[] | undefined): void;
  };
  settings: {
    get(details: object): Promise<{ value: { proxyType?: string } }>;
    onChange: { addListener(listener: () => void): void; removeListener(listener: () => void): void };
  };
}

type ProxyInfo = { type: 'direct' } | { type: 'http'; host: string; port: number };

/**
 * Steers Firefox request by request; whatever it does not answer goes as the person has it. Firefox 153 sends the
 * `proxyAuthorizationHeader` of a `ProxyInfo` to proxies that are spoken to over TLS only, so that the helper's has to ask.
 */
export class FirefoxSteering implements Steering {
  readonly #onLost: (why: string) => void;
  readonly #login: ProxyLogin;
  /** By origin. */
  #ways: ReadonlyMap<string, ProxyInfo[]> | null = null;

  constructor(onLost: (why: string) => void) {
    this.#onLost = onLost;
    this.#login = new ProxyLogin(onLost);
  }

  async obstacle(): Promise<string> {
    const { value } = await api().settings.get({});
    // Of the system's own settings only the helper can tell.
    return ['none', 'system', undefined].includes(value.proxyType) ? '' : OTHER_PROXY;
  }

  async steer(route: Route): Promise<void> {
    const obstacle = await this.obstacle();
    if (obstacle !== '') throw new Error(obstacle);
    const wasOff = this.#ways === null;
    this.#login.begin(route);
    const proxy: ProxyInfo = { type: 'http', host: PROXY_HOST, port: route.port };
    const ways = new Map<string, ProxyInfo[]>();
    for (const origin of route.origins) ways.set(origin, [proxy, { type: 'direct' }]);
    for (const origin of route.trials) ways.set(origin, [proxy]);
    this.#ways = ways;
    if (!wasOff) return;
    api().onRequest.addListener(this.#wayOf, { urls: ['https://*/*'] });
    api().settings.onChange.addListener(this.#watch);
  }

  async release(): Promise<void> {
    if (this.#ways === null) return;
    this.#ways = null;
    this.#login.end();
    // The API goes with the permission, and the listeners with it.
    if (!chrome.proxy) return;
    api().onRequest.removeListener(this.#wayOf);
    api().settings.onChange.removeListener(this.#watch);
  }

  readonly #wayOf = ({ url }: { url: string }): ProxyInfo[] | undefined =>
    this.#ways?.get(new URL(url).origin);

  readonly #watch = async (): Promise<void> => {
    const obstacle = await this.obstacle();
    if (obstacle !== '' && this.#ways !== null) this.#onLost(obstacle);
  };
}

const OTHER_PROXY = 'This browser uses a proxy of your own. Pins would go around it, so there are none.';

function api(): FirefoxProxy {
  return (chrome as unknown as { proxy: FirefoxProxy }).proxy;
}
