/** Where requests to pinned origins are to go. */
export interface Route {
  /** Of the helper's proxy on the loopback. */
  port: number;
  /** What the proxy wants to be shown. */
  secret: string;
  /** `https://host[:port]`. */
  origins: readonly string[];
  /** What only the proxy answers: `https://host:port`, without another way. */
  trials: readonly string[];
}

/** How a browser is made to send some origins' requests through the helper, and all others as ever. */
export interface Steering {
  /** Why the browser cannot be steered, in a sentence for a person; '' when it can. */
  obstacle(): Promise<string>;
  /** Steers these origins and no others. @throws Error in a sentence for a person */
  steer(route: Route): Promise<void>;
  /** Leaves everything as the person has it. Does no harm when nothing is steered. */
  release(): Promise<void>;
}

/** The user name is of no matter to the proxy. */
export const PROXY_USER = 'hopwise';
export const PROXY_HOST = '127.0.0.1';
export const PROXY_REALM = 'hopwise';
