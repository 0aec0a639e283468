import type { EveryOrigin } from '../../evidence/every-origin.ts';
import type { PlainKey } from '../../language/translate.ts';

/** Where the browser sends requests to pinned origins. */
export interface Route {
  /** Port of the helper's proxy on 127.0.0.1. */
  port: number;
  /** `https://host[:port]`. */
  origins: readonly string[];
  /** Trust trials, which only the proxy answers: `https://host:port`, with no direct fallback. */
  trials: readonly string[];
  /** How all other origins are routed, where they are pinned at once. */
  everyOrigin?: EveryOrigin;
}

/** How origins cease to be routed through the helper. */
export interface Lifting {
  /**
   * Whether the browser is to remember of other origins that they offer HTTP/3, at the price of using it minutes later at those that are
   * routed no longer. Chromium can have one or the other.
   */
  keepsAlternatives?: boolean;
}

/** Makes a browser send the requests of some origins, or of all, through the helper and leaves all others unchanged. */
export interface Steering {
  /** Why this browser's proxy settings cannot be used, as the key of a message; null when they can. */
  findObstacle(): Promise<PlainKey | null>;
  /** Routes these origins and no others through the helper. @throws ShownError */
  setRoute(route: Route, lifting?: Lifting): Promise<void>;
  /** Restores the user's proxy settings. Has no effect when no route is set. */
  clearRoute(lifting?: Lifting): Promise<void>;
}

export const PROXY_HOST = '127.0.0.1';
