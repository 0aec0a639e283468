/** Chromium for the fault tests. */
import type { Page } from 'playwright-core';
import type { PlannedRequest } from '../../../../native-host/test/faults/plan.ts';
import { launch } from '../../support/browser.ts';
import { allowPins } from '../pinning-chromium.ts';
import type { FaultBrowser, FaultPage } from './fault-browser.ts';
import { type Fetched, fetchInPage, fetchOrder, GIVEN_UP, TIMEOUT } from './fetched.ts';
import type { HarmedHost } from './harmed-host.ts';

/** The browser's words on a failed `fetch` come separately. */
const WORDS_LIMIT_MS = 1000;

export async function launchChromium(
  { host }: HarmedHost,
  packageRoot: string,
  name: string,
  tabs: number,
): Promise<FaultBrowser> {
  const rules = '--host-resolver-rules=MAP *.lab.test 127.0.0.1';
  const browser = await launch(`${packageRoot}dist/chromium`, [rules], [], host.env, 'en-US', false);
  await host.registerWithNames(browser.profile, [name]);
  const own = await browser.openOwn('devtools.html');
  await allowPins(own);
  const pages: FaultPage[] = [];
  while (pages.length < tabs) pages.push(new ChromiumPage(await browser.context.newPage()));
  return {
    certificateErrors: {
      'other-certificate': /^net::ERR_CERT_AUTHORITY_INVALID$/,
      'expired-certificate': /^net::ERR_CERT_DATE_INVALID$/,
    },
    pages,
    ask: (request) => browser.ask(own, request),
    steers: (origins) => steers(own, origins),
    close: () => browser.close(),
  };
}

async function steers(own: Page, origins: readonly string[]): Promise<boolean> {
  const steered: string[] = await own.evaluate(async () => {
    const { value } = await chrome.proxy.settings.get({});
    return value.pacScript?.data?.match(/https:[^"]+/g) ?? [];
  });
  return origins.every((origin) => steered.includes(origin));
}

class ChromiumPage implements FaultPage {
  readonly #page: Page;
  #issuer = '';

  constructor(page: Page) {
    this.#page = page;
  }

  async open(url: string, limitMs: number): Promise<string> {
    try {
      const response = await this.#page.goto(url, { timeout: limitMs });
      this.#issuer = (await response?.securityDetails())?.issuer ?? '';
      return '';
    } catch (fault) {
      const { message, name } = fault as Error;
      return name === TIMEOUT ? GIVEN_UP : (/net::\w+/.exec(message)?.[0] ?? message);
    }
  }

  issuer(): string {
    return this.#issuer;
  }

  async fetch(request: PlannedRequest, id: string, limitMs: number): Promise<Fetched> {
    const order = fetchOrder(request, id, limitMs);
    let error = '';
    const failed = this.#page.waitForEvent('requestfailed', {
      predicate: (one) => one.url().endsWith(order.path),
      timeout: 0,
    });
    failed.then(
      (one) => {
        error = one.failure()?.errorText ?? '';
      },
      () => {},
    );
    const fetched = await this.#page.evaluate(fetchInPage, order);
    if (fetched.error === '') return fetched;
    if (fetched.error === TIMEOUT) return { ...fetched, error: GIVEN_UP };
    await Promise.race([failed, new Promise((resolve) => setTimeout(resolve, WORDS_LIMIT_MS))]);
    return { ...fetched, error: error || fetched.error };
  }
}
