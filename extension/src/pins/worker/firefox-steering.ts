import { type EveryOrigin, findPort } from '../../evidence/every-origin.ts';
import { PROXY_HOST, type Route, type Steering } from './steering.ts';

/** The parts of Firefox's `proxy` API in use; Chromium's API of the same name differs. */
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

type HttpProxy = { type: 'http'; host: string; port: number; failoverTimeout?: number };
type ProxyInfo = { type: 'direct' } | HttpProxy;

/** Routes Firefox request by request; requests without an answer use the user's own settings. */
export class FirefoxSteering implements Steering {
  readonly #onLost: (why: string) => void;
  /** Proxies by origin. */
  #proxies: ReadonlyMap<string, ProxyInfo[]> | null = null;
  /** For the origins without one there. */
  #everyOrigin: EveryOrigin | undefined;

  constructor(onLost: (why: string) => void) {
    this.#onLost = onLost;
  }

  async findObstacle(): Promise<string> {
    const { value } = await api().settings.get({});
    // The system's proxy settings are visible to the helper only.
    return ['none', 'system', undefined].includes(value.proxyType) ? '' : OTHER_PROXY;
  }

  async setRoute(route: Route): Promise<void> {
    const obstacle = await this.findObstacle();
    if (obstacle !== '') throw new Error(obstacle);
    const wasOff = this.#proxies === null;
    const proxy = proxyAt(route.port);
    const proxies = new Map<string, ProxyInfo[]>();
    for (const origin of route.origins) proxies.set(origin, [proxy, { type: 'direct' }]);
    for (const origin of route.trials) proxies.set(origin, [proxy]);
    this.#proxies = proxies;
    this.#everyOrigin = route.everyOrigin;
    if (!wasOff) return;
    api().onRequest.addListener(this.#findProxies, { urls: ['https://*/*'] });
    api().settings.onChange.addListener(this.#watch);
  }

  async clearRoute(): Promise<void> {
    if (this.#proxies === null) return;
    this.#proxies = null;
    this.#everyOrigin = undefined;
    // Without the permission the API is gone, and so are its listeners.
    if (!chrome.proxy) return;
    api().onRequest.removeListener(this.#findProxies);
    api().settings.onChange.removeListener(this.#watch);
  }

  readonly #findProxies = ({ url }: { url: string }): ProxyInfo[] | undefined => {
    const own = this.#proxies?.get(new URL(url).origin);
    if (own !== undefined || !this.#everyOrigin) return own;
    const port = findPort(url, this.#everyOrigin);
    return port > 0 ? [{ ...proxyAt(port), failoverTimeout: FAILOVER_S }, { type: 'direct' }] : undefined;
  };

  readonly #watch = async (): Promise<void> => {
    const obstacle = await this.findObstacle();
    if (obstacle !== '' && this.#proxies !== null) this.#onLost(obstacle);
  };
}

/** How long Firefox does without a proxy that has failed for one origin, which others share: the shortest time that it takes. */
const FAILOVER_S = 1;

const proxyAt = (port: number): HttpProxy => ({ type: 'http', host: PROXY_HOST, port });

const OTHER_PROXY = 'This browser already uses a proxy. Pins would bypass it, so they are not possible.';

function api(): FirefoxProxy {
  return (chrome as unknown as { proxy: FirefoxProxy }).proxy;
}
