import { siteInitScript } from '@hopwise/lab/browser/determinism';
import type { Lab } from '@hopwise/lab/client/lab';
import type { LabNetwork } from '@hopwise/lab/client/networks';
import type { Cleanup } from '@hopwise/lab/command/cleanup';
import { type DisturbanceWatch, disturbedBy, watchDisturbance } from '@hopwise/lab/loads/disturbance';
import { type Loader, type Measured, measureProtocols } from '@hopwise/lab/loads/measure-protocols';
import { MeasuringBrowser } from '@hopwise/lab/loads/measuring-browser';
import { processorSpeed } from '@hopwise/lab/loads/processor-speed';
import type { Site } from '@hopwise/lab/sites/site';
import { PROTOCOLS, type Protocol, type Unavailable } from '@hopwise/pageload-emulator';
import type { RepeatedSpread } from '../report/report.ts';

export interface TruthOptions {
  lab: Lab;
  network: LabNetwork;
  /** Script that runs Chromium on the client's side of the link. */
  chromium: string;
  site: Site;
  loads: number;
  /** Time that a load has for its load event. */
  timeoutMs: number;
  /** Makes no load again that was disturbed. */
  keepDisturbed: boolean;
  headed: boolean;
  cleanup: Cleanup;
  onProgress: (text: string) => void;
  signal: AbortSignal;
}

export interface Truth {
  measured: Partial<Record<Protocol, RepeatedSpread | Unavailable>>;
  warnings: string[];
}

/** More rounds than there are. */
const ROUNDS_BOUND = 1000;

/** Real page loads under each forced protocol, cold, one at a time, the protocols taking turns. */
export async function measureTruth(options: TruthOptions): Promise<Truth> {
  const { lab, site, network, cleanup } = options;
  const hosts = lab.hosts;
  const browsers: Partial<Record<Protocol, WatchedBrowser>> = {};
  for (const protocol of PROTOCOLS) {
    options.signal.throwIfAborted();
    const browser = await MeasuringBrowser.launch({
      executablePath: options.chromium,
      protocol,
      caSpki: lab.caSpki,
      hosts,
      headed: options.headed,
    });
    cleanup.add(`Chromium for ${protocol}`, () => browser.close());
    browsers[protocol] = new WatchedBrowser(browser, lab, site);
  }
  const seed = network.seed ?? 1;
  let busyLinks = 0;
  // On a machine that is never quiet the measurement takes twice as long, and no longer.
  let repeatsLeft = options.keepDisturbed ? 0 : PROTOCOLS.length * options.loads;
  const disturbed: Record<Protocol, number> = { h1: 0, h2: 0, h3: 0 };
  const measurement = await measureProtocols({
    browsers,
    url: site.entry,
    loadsPerProtocol: options.loads,
    timeoutMs: options.timeoutMs,
    hooks: {
      async beforeLoad(_, { round, failures }) {
        // The last load's retransmissions would take the next one's share of the link.
        if (!(await lab.drain())) busyLinks++;
        // Round by round the protocols meet the same sequence of losses; after a failure, another one.
        await lab.configure({ ...network, seed: seed + 1 + round + ROUNDS_BOUND * failures });
        await lab.resetStats();
      },
      async afterLoad(protocol) {
        const browser = browsers[protocol as Protocol];
        if (!browser || browser.disturbedBy.length === 0) return 'keep';
        disturbed[protocol as Protocol]++;
        return repeatsLeft-- > 0 ? 'repeat' : 'keep';
      },
    },
    onProgress: ({ protocol, done, total, load }) =>
      options.onProgress(
        `${done} of ${total} loads, ${protocol}: ${load.ok ? `${Math.round(load.pltMs)} ms` : load.reason}`,
      ),
    signal: options.signal,
  });
  await lab.configure({ ...network, seed });
  const measured: Truth['measured'] = {};
  const warnings: string[] = [];
  if (busyLinks > 0) {
    warnings.push(`${counted(busyLinks, 'load')} began while packets of the one before were on the link`);
  }
  for (const protocol of PROTOCOLS) {
    const result = measurement[protocol];
    if (!result) continue;
    measured[protocol] = 'unavailable' in result ? result : repeatedSpread(result, protocol);
    if (!('unavailable' in result)) warnings.push(...warningsOf(result, protocol, disturbed[protocol]));
  }
  return { measured, warnings };
}

/** Loads with the page's own chance and clock, watched from the navigation to the load event. */
class WatchedBrowser implements Loader {
  readonly #browser: MeasuringBrowser;
  readonly #lab: Lab;
  readonly #site: Site;
  /** What disturbed the last load that came to its load event. */
  disturbedBy: string[] = [];

  constructor(browser: MeasuringBrowser, lab: Lab, site: Site) {
    this.#browser = browser;
    this.#lab = lab;
    this.#site = site;
  }

  load: Loader['load'] = (url, limits) => {
    let watch: DisturbanceWatch | undefined;
    return this.#browser.load(url, {
      ...limits,
      ...siteInitScript(this.#site),
      onNavigation: async () => {
        watch = await watchDisturbance({
          lab: this.#lab,
          slowdown: () => processorSpeed.slowdown(),
        });
      },
      onLoadEvent: async () => {
        this.disturbedBy = watch ? disturbedBy(await watch.end()) : [];
      },
    });
  };
}

function repeatedSpread(result: Measured, protocol: Protocol): RepeatedSpread {
  const requests = result.loads.flatMap((load) => load.requests);
  return {
    median: result.medianMs,
    low: result.lowMs,
    high: result.highMs,
    n: result.loads.length,
    spread: result.range,
    proved: requests.filter((request) => request.protocol === protocol).length,
    requests: requests.length,
  };
}

/** @param disturbed loads, dropped and kept, that were disturbed */
function warningsOf(result: Measured, protocol: Protocol, disturbed: number): string[] {
  const warnings: string[] = [];
  const byWhat = 'late packets or other processes';
  if (result.repeated > 0)
    warnings.push(
      `${counted(result.repeated, 'load')} under ${protocol} dropped and repeated: disturbed by ${byWhat}`,
    );
  const kept = disturbed - result.repeated;
  if (kept > 0)
    warnings.push(`${counted(kept, 'load')} under ${protocol} kept although disturbed by ${byWhat}`);
  if (result.failed > 0)
    warnings.push(`${counted(result.failed, 'load')} under ${protocol} failed and left out`);
  const wrong = result.loads.length - result.proved;
  if (wrong > 0)
    warnings.push(
      `${wrong} of ${result.loads.length} loads under ${protocol} had requests that were not proved to use it`,
    );
  const incomplete = result.loads.filter((load) => load.failed.length > 0).length;
  if (incomplete > 0)
    warnings.push(`${incomplete} of ${result.loads.length} loads under ${protocol} had requests that failed`);
  return warnings;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
