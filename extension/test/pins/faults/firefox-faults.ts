/** Firefox for the fault tests. */
import { join } from 'node:path';
import type { PlannedRequest } from '../../../../native-host/test/faults/plan.ts';
import { hopwiseHost } from '../../../../native-host/test/support/command.ts';
import type { Server } from '../../../../native-host/test/support/server.ts';
import { allowPins, FirefoxBrowser, type FirefoxTab, makeProfile } from '../../firefox/firefox.ts';
import type { FaultBrowser, FaultPage } from './fault-browser.ts';
import { type Fetched, fetchInPage, fetchOrder, GIVEN_UP, TIMEOUT } from './fetched.ts';
import type { HarmedHost } from './harmed-host.ts';

interface FirefoxOptions {
  packageRoot: string;
  /** Host of the origins. */
  name: string;
  /** Servers that the profile trusts. */
  servers: readonly Server[];
  tabs: number;
}

export async function launchFirefox(
  { host }: HarmedHost,
  { packageRoot, name, servers, tabs }: FirefoxOptions,
): Promise<FaultBrowser> {
  host.registerInFirefox(host.folder);
  host.giveNames(join(host.folder, 'data/hopwise/hopwise-host.sh'), [name]);
  const profile = makeProfile(host.folder, {
    prefs: { 'network.dns.localDomains': name },
    trusted: servers.map(({ caFile }) => caFile),
  });
  const { code, err } = hopwiseHost(host.folder, ['ca', 'trust', '--firefox-profile', profile]);
  if (code !== 0) throw new Error(err);
  const browser = await FirefoxBrowser.launch(`${packageRoot}dist/firefox`, host.folder, host.env);
  const own = await browser.openOwn('popup.html');
  await allowPins(own);
  const pages: FaultPage[] = [];
  while (pages.length < tabs) pages.push(new FirefoxPage(await browser.open('about:blank')));
  return {
    certificateErrors: {
      'other-certificate': /CERT|ISSUER/i,
      'expired-certificate': /CERT|EXPIRED/i,
    },
    pages,
    ask: (request) => browser.ask(own, request),
    // It asks the extension for each request.
    steers: async () => true,
    close: () => browser.close(),
  };
}

class FirefoxPage implements FaultPage {
  readonly #tab: FirefoxTab;

  constructor(tab: FirefoxTab) {
    this.#tab = tab;
  }

  async open(url: string, limitMs: number): Promise<string> {
    const opened = this.#tab.goto(url).then(
      () => '',
      (fault: Error) => fault.message,
    );
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve(GIVEN_UP), limitMs);
    });
    return Promise.race([opened, late]).finally(() => clearTimeout(timer));
  }

  issuer(): null {
    return null;
  }

  async fetch(request: PlannedRequest, id: string, limitMs: number): Promise<Fetched> {
    const fetched = await this.#tab.evaluate(fetchInPage, fetchOrder(request, id, limitMs));
    return fetched.error === TIMEOUT ? { ...fetched, error: GIVEN_UP } : fetched;
  }
}
