import { findPort } from '../../evidence/every-origin.ts';
import { ShownError } from '../../language/shown-error.ts';
import { type PlainKey, t } from '../../language/translate.ts';
import { PROXY_HOST, type Route, type Steering } from './steering.ts';

interface ProxiedRequest {
  url: string;
  type: string;
  /** The URL of the document that it is for. */
  documentUrl?: string;
  /** The URL of the document or worker that makes it. */
  originUrl?: string;
  /** The documents around that one, the innermost first. */
  frameAncestors?: { url: string }[];
}

type OnRequest = (request: ProxiedRequest) => ProxyInfo[] | undefined;

/** The parts of Firefox's `proxy` API in use; Chromium's API of the same name differs. */
interface FirefoxProxy {
  onRequest: {
    addListener(listener: OnRequest, filter: { urls: string[] }): void;
    removeListener(listener: OnRequest): void;
  };
  settings: {
    get(details: object): Promise<{ value: { proxyType?: string } }>;
    onChange: { addListener(listener: () => void): void; removeListener(listener: () => void): void };
  };
}

interface HttpProxy {
  type: 'http';
  host: string;
  port: number;
  /** Seconds. */
  failoverTimeout?: number;
  /** Requests share connections with those of the same key alone. */
  connectionIsolationKey: string;
}

type ProxyInfo = { type: 'direct' } | HttpProxy;

/** Routes Firefox request by request; requests without an answer use the user's own settings. */
export class FirefoxSteering implements Steering {
  readonly #onLost: (why: PlainKey) => void;
  #route: Route | null = null;

  constructor(onLost: (why: PlainKey) => void) {
    this.#onLost = onLost;
  }

  async findObstacle(): Promise<PlainKey | null> {
    const { value } = await api().settings.get({});
    // The system's proxy settings are visible to the helper only.
    return ['none', 'system', undefined].includes(value.proxyType) ? null : 'steeringOtherProxy';
  }

  async setRoute(route: Route): Promise<void> {
    const obstacle = await this.findObstacle();
    if (obstacle) throw new ShownError(() => t(obstacle));
    const wasOff = this.#route === null;
    this.#route = route;
    if (!wasOff) return;
    api().onRequest.addListener(this.#findProxies, { urls: ['https://*/*'] });
    api().settings.onChange.addListener(this.#watch);
  }

  async clearRoute(): Promise<void> {
    if (this.#route === null) return;
    this.#route = null;
    // Without the permission the API is gone, and so are its listeners.
    if (!chrome.proxy) return;
    api().onRequest.removeListener(this.#findProxies);
    api().settings.onChange.removeListener(this.#watch);
  }

  readonly #findProxies = (request: ProxiedRequest): ProxyInfo[] | undefined => {
    if (this.#route === null) return undefined;
    const { origins, trials, port, everyOrigin } = this.#route;
    const { origin } = new URL(request.url);
    const proxy = { ...proxyAt(port), connectionIsolationKey: findPageOrigin(request) };
    if (trials.includes(origin)) return [proxy];
    if (origins.includes(origin)) return [proxy, DIRECT];
    const shared = everyOrigin ? findPort(request.url, everyOrigin) : 0;
    return shared > 0 ? [{ ...proxy, port: shared, failoverTimeout: FAILOVER_S }, DIRECT] : undefined;
  };

  readonly #watch = async (): Promise<void> => {
    const obstacle = await this.findObstacle();
    if (obstacle && this.#route !== null) this.#onLost(obstacle);
  };
}

/** How long Firefox does without a proxy that has failed for one origin, which others share: the shortest time that it takes. */
const FAILOVER_S = 1;

const DIRECT = { type: 'direct' } as const;

const proxyAt = (port: number) => ({ type: 'http', host: PROXY_HOST, port }) as const;

/**
 * The origin of the page that a request is for. By default Firefox partitions connections by the page's site, but not those through a proxy
 * (`privacy.partition.network_state.connection_with_proxy`): pages could tell by a warm connection what other sites are open. Firefox says of shared and
 * service workers only what their own origin is.
 */
function findPageOrigin({ url, type, documentUrl, originUrl, frameAncestors }: ProxiedRequest): string {
  const page = type === 'main_frame' ? url : (frameAncestors?.at(-1)?.url ?? documentUrl ?? originUrl ?? url);
  return new URL(page).origin;
}

function api(): FirefoxProxy {
  return (chrome as unknown as { proxy: FirefoxProxy }).proxy;
}
