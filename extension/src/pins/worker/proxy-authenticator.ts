import { PROXY_HOST, PROXY_REALM, PROXY_USER, type Route } from './steering.ts';

/** Times that the proxy may ask for the password of one request before it counts as refused: one for each connection tried. */
const MAX_ANSWERS = 3;

/** Logs in to the helper's proxy, and to no other; without it the browser would ask the user for a password. */
export class ProxyAuthenticator {
  readonly #onRefused: (why: string) => void;
  #route: Route | null = null;
  /** Number of answers by request id. */
  readonly #answers = new Map<string, number>();

  /** @param onRefused called with a message to show when the proxy does not accept the password */
  constructor(onRefused: (why: string) => void) {
    this.#onRefused = onRefused;
  }

  start(route: Route): void {
    const wasOff = this.#route === null;
    this.#route = route;
    this.#answers.clear();
    if (!wasOff) return;
    chrome.webRequest.onAuthRequired.addListener(this.#answer, { urls: ['https://*/*'] }, ['blocking']);
  }

  stop(): void {
    if (this.#route === null) return;
    this.#route = null;
    chrome.webRequest.onAuthRequired.removeListener(this.#answer);
  }

  readonly #answer = (
    details: chrome.webRequest.OnAuthRequiredDetails,
  ): chrome.webRequest.BlockingResponse => {
    const route = this.#route;
    const { isProxy, challenger, realm, scheme, requestId } = details;
    const isHelper =
      route !== null &&
      isProxy &&
      challenger.host === PROXY_HOST &&
      [route.port, ...(route.everyOrigin?.ports ?? [])].includes(challenger.port) &&
      realm === PROXY_REALM &&
      scheme.toLowerCase() === 'basic';
    if (!isHelper) return {};
    const answers = (this.#answers.get(requestId) ?? 0) + 1;
    this.#answers.set(requestId, answers);
    if (answers > MAX_ANSWERS) {
      this.#onRefused('The helper’s proxy rejected this browser’s password.');
      return { cancel: true };
    }
    return { authCredentials: { username: PROXY_USER, password: route.secret } };
  };
}
