/** What a Playwright worker keeps from test to test: one lab, and the browsers on its client side. */

import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Lab, type LabUpstream } from '@hopwise/lab/client/lab';
import type { LabNetwork } from '@hopwise/lab/client/networks';
import { makeScratch, removeScratch } from '@hopwise/lab/command/scratch';
import { MeasuringBrowser } from '@hopwise/lab/loads/measuring-browser';
import { type BrowserProtocol, protocolArgs, QUIET_ARGS } from '@hopwise/lab/loads/protocol-args';
import type { PageSource } from '@hopwise/lab/pages/page-source';
import type { Assignment } from '@hopwise/pageload-emulator';
import { ReplayError } from './errors.ts';
import { LinkRelay } from './link.ts';

interface LabRequest {
  page: PageSource;
  network: LabNetwork;
  ipVersion: 4 | 6;
  /** Servers outside the lab that answer for the page's origins. */
  upstreams?: Readonly<Record<string, LabUpstream>>;
}

/** What a browser of a test is started with. */
interface BrowserRequest {
  executablePath: string;
  protocol: BrowserProtocol;
}

/** Starts a browser of the caller's own. */
type Launch<Browser> = (options: { executablePath: string; args: string[] }) => Promise<Browser>;

/** A browser for measured loads or for `replayPage`. */
interface Closable {
  close(): Promise<void>;
  isConnected?(): boolean;
  /** Only Playwright's browsers have it. */
  contexts?(): unknown[];
}

interface KeptLab {
  lab: Lab;
  page: PageSource;
  ipVersion: 4 | 6;
  network: LabNetwork;
  /** The protocols that the servers offer; null for all that the page's servers offer. */
  assignment: Assignment | null;
}

/**
 * A comparison of protocols needs three browsers, `replayPage` one; more would waste memory. Browsers with an open context
 * are kept beyond this.
 */
const MAX_BROWSERS = 4;

export class LabKeeper {
  readonly #scratch: string;
  #kept: KeptLab | undefined;
  /** The way to the server of `link`, by its origin. */
  #relay: { server: string; relay: LinkRelay } | undefined;
  #relays = 0;
  /** Oldest use first. */
  readonly #browsers = new Map<string, Closable>();

  private constructor(scratch: string) {
    this.#scratch = scratch;
  }

  /** Also removes the leftovers of killed workers. */
  static async open(): Promise<LabKeeper> {
    return new LabKeeper(await makeScratch('run'));
  }

  /**
   * The lab with this page and network: the one that is up where its page is the same, else a new one in its place.
   *
   * @throws ReplayError saying what is missing or wrong
   */
  async lab({ page, network, ipVersion, upstreams }: LabRequest): Promise<Lab> {
    if (this.#kept && (this.#kept.page.dir !== page.dir || this.#kept.ipVersion !== ipVersion))
      await this.#down();
    if (this.#kept) {
      try {
        await this.configure(network);
        return this.#kept.lab;
      } catch {
        // The lab was killed: a new one replaces it.
        await this.#down();
      }
    }
    if (process.platform !== 'linux') {
      throw new ReplayError(`the lab needs Linux (network namespaces), this is ${process.platform}`);
    }
    const options = { site: page.dir, network, ipVersion, ...(upstreams && { upstreams }) };
    const lab = await Lab.up(options).catch((error) => {
      throw new ReplayError(error);
    });
    this.#kept = { lab, page, ipVersion, network, assignment: null };
    return lab;
  }

  /**
   * The lab with a server outside it and this network.
   *
   * @param server its origin, such as `http://localhost:3000`
   * @throws ReplayError saying what is missing or wrong
   */
  async linkedLab(server: string, network: LabNetwork): Promise<Lab> {
    if (this.#relay?.server !== server) {
      await this.#relay?.relay.close();
      this.#relay = undefined;
      this.#relays += 1;
      const relay = await LinkRelay.open(server, join(this.#scratch, `link-${this.#relays}`));
      this.#relay = { server, relay };
    }
    const { page, upstreams } = this.#relay.relay;
    return this.lab({ page, network, ipVersion: 4, upstreams });
  }

  /** Changes the network of the lab that is up. */
  async configure(network: LabNetwork): Promise<void> {
    const kept = this.#theLab();
    await kept.lab.configure(network);
    kept.network = network;
  }

  /** Closes every connection to the servers. */
  async closeConnections(): Promise<void> {
    const { lab, page, assignment } = this.#theLab();
    await lab.serve(page.dir);
    if (assignment) await lab.offer(assignment);
  }

  /**
   * Has every origin offer the protocol that an assignment gives it: Chromium can be forced to HTTP/3 by origin, but
   * whether it uses HTTP/1.1 or HTTP/2 is up to what the server offers.
   */
  async offerFor(protocol: BrowserProtocol): Promise<void> {
    const kept = this.#theLab();
    const assignment = typeof protocol === 'object' ? protocol.assignment : null;
    if (isDeepStrictEqual(kept.assignment, assignment)) return;
    await kept.lab.offer(assignment);
    kept.assignment = assignment;
  }

  /** A browser for measured loads. */
  async measuringBrowser({ executablePath, protocol }: BrowserRequest): Promise<MeasuringBrowser> {
    await this.offerFor(protocol);
    const { lab } = this.#theLab();
    return this.#browser(['loads', executablePath, protocol], async () =>
      MeasuringBrowser.launch({
        executablePath: await lab.wrapper(executablePath),
        protocol,
        caSpki: lab.caSpki,
        hosts: this.#hosts(),
      }),
    );
  }

  /** A browser that the test itself drives, started by `launch` inside the lab's network with the protocol forced. */
  async testBrowser<Browser extends Closable>(
    { executablePath, protocol, key }: BrowserRequest & { key: unknown },
    launch: Launch<Browser>,
  ): Promise<Browser> {
    await this.offerFor(protocol);
    const { lab } = this.#theLab();
    return this.#browser(['test', executablePath, protocol, key], async () =>
      launch({
        executablePath: await lab.wrapper(executablePath),
        args: [
          ...protocolArgs(protocol, this.#hosts()),
          `--ignore-certificate-errors-spki-list=${lab.caSpki}`,
          ...QUIET_ARGS,
        ],
      }),
    );
  }

  /** Ends everything and removes the scratch folder. */
  async close(): Promise<void> {
    await this.#down();
    await this.#relay?.relay.close();
    await removeScratch(this.#scratch);
  }

  #theLab(): KeptLab {
    if (!this.#kept) throw new Error('no lab is up');
    return this.#kept;
  }

  #hosts(): string[] {
    return this.#theLab().lab.hosts;
  }

  async #browser<Browser extends Closable>(key: unknown, launch: () => Promise<Browser>): Promise<Browser> {
    const name = JSON.stringify(key);
    let browser = this.#browsers.get(name) as Browser | undefined;
    this.#browsers.delete(name);
    if (browser?.isConnected?.() === false) browser = undefined;
    if (!browser) {
      await this.#closeOldest();
      browser = await this.#withOwnTemporaryFolder(launch);
    }
    this.#browsers.set(name, browser);
    return browser;
  }

  /** Closes the least recently used browser if there are too many. */
  async #closeOldest(): Promise<void> {
    if (this.#browsers.size < MAX_BROWSERS) return;
    for (const [name, browser] of this.#browsers) {
      if (browser.contexts && browser.contexts().length > 0) continue;
      this.#browsers.delete(name);
      await browser.close();
      return;
    }
  }

  /** Profiles are put into the scratch folder, so that a later run finds and removes those of a killed worker. */
  async #withOwnTemporaryFolder<T>(work: () => Promise<T>): Promise<T> {
    const before = process.env.TMPDIR;
    process.env.TMPDIR = this.#scratch;
    try {
      return await work();
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
  }

  async #down(): Promise<void> {
    for (const browser of this.#browsers.values()) await browser.close();
    this.#browsers.clear();
    await this.#kept?.lab.down();
    this.#kept = undefined;
  }
}
