import { PROXY_HOST, PROXY_REALM, PROXY_USER, type Route } from './steering.ts';

/** Connections of one request that may be asked for the secret before it is plain that it is not accepted. */
const MAX_ANSWERS = 3;

/** Shows the helper's proxy, and nobody else, the secret that it asks for; otherwise the browser would ask the person. */
export class ProxyLogin {
  readonly #onRefused: (why: string) => void;
  #route: Route | null = null;
  /** How often each request has been given the secret. */
  readonly #answers = new Map<string, number>();

  /** @param onRefused told when the proxy does not accept the secret, in a sentence for a person */
  constructor(onRefused: (why: string) => void) {
    this.#onRefused = onRefused;
  }

  begin(route: Route): void {
    const wasOff = this.#route === null;
    this.#route = route;
    this.#answers.clear();
    if (!wasOff) return;
    chrome.webRequest.onAuthRequired.addListener(this.#answer, { urls: ['https://*/*'] }, ['blocking']);
  }

  end(): void {
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
      challenger.port === route.port &&
      realm === PROXY_REALM &&
      scheme.toLowerCase() === 'basic';
    if (!isHelper) return {};
    const answers = (this.#answers.get(requestId) ?? 0) + 1;
    this.#answers.set(requestId, answers);
    if (answers > MAX_ANSWERS) {
      this.#onRefused('The helper’s proxy did not accept this browser.');
      return { cancel: true };
    }
    return { authCredentials: { username: PROXY_USER, password: route.secret } };
  };
}
