/** The lab serving one page at a time, with an open browser for each protocol. */
import { isDeepStrictEqual } from 'node:util';
import type { Assignment } from '@hopwise/pageload-emulator';
import { siteInitScript } from '../browser/determinism.ts';
import { Lab, type LabFacts, type LabOptions } from '../client/lab.ts';
import type { LabNetwork } from '../client/networks.ts';
import type { Cleanup } from '../command/cleanup.ts';
import type { GroundTruthLoad, LoadProtocol, View } from '../ground-truth/ground-truth.ts';
import { type Watched, watchDisturbance } from '../loads/disturbance.ts';
import { type FailedLoad, type Load, MeasuringBrowser } from '../loads/measuring-browser.ts';
import { processorSpeed } from '../loads/processor-speed.ts';
import type { BrowserProtocol } from '../loads/protocol-args.ts';
import type { MatrixPage } from './matrix-page.ts';

interface PageLabOptions {
  /** Chromium. */
  program: string;
  server: NonNullable<LabOptions['server']> & Pick<LabOptions, 'stack'>;
  ipVersion: 4 | 6;
  timeoutMs: number;
  cleanup: Cleanup;
  signal: AbortSignal;
}

export interface LabLoadRequest {
  page: MatrixPage;
  protocol: LoadProtocol;
  /** Only for `assigned`. */
  assignment?: Assignment;
  view: View;
  /** With the seed of its losses. */
  network: LabNetwork;
}

/** A load, with what was observed of the machine and the link from its navigation to its load event or failure. */
export interface LabLoad {
  load: Load | FailedLoad;
  disturbance: Watched;
  drops: GroundTruthLoad['drops'];
}

/** The part of `PageLab` that the matrix uses. */
export interface MatrixLab {
  /** Whether the lab has the page's origins. */
  canServe(page: MatrixPage): boolean;
  load(request: LabLoadRequest): Promise<LabLoad>;
  /** Watches the idle machine for `ms`. */
  idle(ms: number): Promise<Watched>;
  /** Makes the next load of this protocol use a fresh browser. */
  discardBrowser(protocol: LoadProtocol): Promise<void>;
  /** May be called again. */
  close(): Promise<void>;
}

/** Each waits up to 3 s. */
const MAX_DRAINS = 10;

const slowdown = () => processorSpeed.slowdown();

interface OpenBrowser {
  browser: MeasuringBrowser;
  assignment: Assignment | undefined;
}

export class PageLab implements MatrixLab {
  readonly #options: PageLabOptions;
  readonly #lab: Lab;
  /** Script that runs Chromium on the client's side of the link. */
  readonly #chromium: string;
  readonly #browsers = new Map<LoadProtocol, OpenBrowser>();
  /** The page that is served. */
  #page: MatrixPage;
  /** The assignment that the servers are restricted to. */
  #offered: Assignment | undefined;
  #closing: Promise<void> | undefined;

  private constructor(page: MatrixPage, options: PageLabOptions, lab: Lab, chromium: string) {
    this.#page = page;
    this.#options = options;
    this.#lab = lab;
    this.#chromium = chromium;
  }

  /** @param page is served first */
  static async up(page: MatrixPage, network: LabNetwork, options: PageLabOptions): Promise<PageLab> {
    const { program, ipVersion, signal, cleanup } = options;
    const { stack, ...server } = options.server;
    const lab = await Lab.up({ site: page.dir, network, server, ...(stack && { stack }), ipVersion, signal });
    cleanup.add('the lab', () => lab.down());
    const own = new PageLab(page, options, lab, await lab.wrapper(program));
    cleanup.add('the browsers', () => own.close());
    return own;
  }

  get facts(): LabFacts {
    return this.#lab.facts;
  }

  canServe({ site }: MatrixPage): boolean {
    return isDeepStrictEqual(
      site.origins.map(({ origin }) => origin),
      this.#lab.origins.map(({ origin }) => origin),
    );
  }

  /** Loads the page once, on an empty link whose losses start at the seed. */
  async load({ page, protocol, assignment, view, network }: LabLoadRequest): Promise<LabLoad> {
    const lab = this.#lab;
    if (page !== this.#page) {
      await lab.serve(page.dir);
      this.#page = page;
      this.#offered = undefined;
    }
    if (!isDeepStrictEqual(assignment, this.#offered)) {
      await lab.offer(assignment ?? null);
      this.#offered = assignment;
    }
    const browser = await this.#browser(protocol, assignment);
    await this.#prepareLink(network);
    // Stands in for a load that fails before its navigation.
    let watch = await watchDisturbance({ lab, slowdown });
    const seen = async (): Promise<Omit<LabLoad, 'load'>> => {
      const [disturbance, { down, up }] = await Promise.all([watch.end(), lab.stats()]);
      return { disturbance, drops: { down: down.drops, up: up.drops } };
    };
    let atLoadEvent: Omit<LabLoad, 'load'> | undefined;
    const { timeoutMs } = this.#options;
    const load = await browser.load(page.site.entry, {
      timeoutMs,
      ...siteInitScript(page.site),
      view,
      ...(page.cpuSlowdown === undefined ? {} : { cpuSlowdown: page.cpuSlowdown }),
      record: true,
      betweenViews: async () => {
        // Closes the connections that the first view left open.
        await lab.serve(page.dir);
        if (assignment) await lab.offer(assignment);
        await this.#prepareLink(network);
      },
      onNavigation: async () => {
        watch = await watchDisturbance({ lab, slowdown });
      },
      onLoadEvent: async () => {
        atLoadEvent = await seen();
      },
    });
    return { load, ...(atLoadEvent ?? (await seen())) };
  }

  async idle(ms: number): Promise<Watched> {
    await this.#lab.resetStats();
    const watch = await watchDisturbance({
      lab: this.#lab,
      slowdown: () => processorSpeed.slowdown(false),
    });
    await new Promise((resolve) => setTimeout(resolve, ms));
    return watch.end();
  }

  async discardBrowser(protocol: LoadProtocol): Promise<void> {
    const open = this.#browsers.get(protocol);
    this.#browsers.delete(protocol);
    // A crashed browser has nothing left to close.
    await open?.browser.close().catch(() => undefined);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#browsers.keys()].map((protocol) => this.discardBrowser(protocol)));
    await this.#lab.down();
  }

  async #browser(protocol: LoadProtocol, assignment: Assignment | undefined): Promise<MeasuringBrowser> {
    const open = this.#browsers.get(protocol);
    if (open && isDeepStrictEqual(open.assignment, assignment)) return open.browser;
    await this.discardBrowser(protocol);
    const { site } = this.#page;
    const browser = await MeasuringBrowser.launch({
      executablePath: this.#chromium,
      protocol: browserProtocol(protocol, assignment),
      caSpki: this.#lab.caSpki,
      hosts: this.#lab.hosts,
    });
    this.#browsers.set(protocol, { browser, assignment });
    // The lab was closed while the browser was starting.
    if (this.#closing) await this.discardBrowser(protocol);
    // The first load of a process pays for loading code and fonts and starting the renderer. It is not measured; if it fails,
    // the next one fails too and is reported.
    else
      await browser.load(site.entry, {
        timeoutMs: this.#options.timeoutMs,
        ...siteInitScript(site),
        record: false,
      });
    return browser;
  }

  async #prepareLink(network: LabNetwork): Promise<void> {
    await this.#drain();
    await this.#lab.configure(network);
    await this.#lab.resetStats();
  }

  /** Waits until the link is empty: retransmissions of the last load would compete with the next one. */
  async #drain(): Promise<void> {
    for (let tries = 0; tries < MAX_DRAINS; tries++) if (await this.#lab.drain()) return;
    throw new Error(`the link is not empty ${MAX_DRAINS * 3} s after a load`);
  }
}

function browserProtocol(protocol: LoadProtocol, assignment: Assignment | undefined): BrowserProtocol {
  if (protocol !== 'assigned') return protocol;
  if (assignment === undefined) throw new TypeError('assigned: expected an assignment');
  return { assignment };
}
