import type { RepeatedSpread } from '@hopwise/extension/report';
import { siteInitScript } from '@hopwise/lab/browser/determinism';
import type { Lab } from '@hopwise/lab/client/lab';
import type { LabNetwork } from '@hopwise/lab/client/networks';
import type { Cleanup } from '@hopwise/lab/command/cleanup';
import type { LoadProtocol } from '@hopwise/lab/ground-truth/ground-truth';
import { type DisturbanceWatch, disturbedBy, watchDisturbance } from '@hopwise/lab/loads/disturbance';
import { type Loader, type Measured, measureProtocols } from '@hopwise/lab/loads/measure-protocols';
import { MeasuringBrowser } from '@hopwise/lab/loads/measuring-browser';
import { processorSpeed } from '@hopwise/lab/loads/processor-speed';
import { count } from '@hopwise/lab/output/words';
import type { Site } from '@hopwise/lab/sites/site';
import {
  type Assignment,
  originOf,
  PROTOCOLS,
  type Protocol,
  type Unavailable,
} from '@hopwise/pageload-emulator';
import { FlawedLoads } from './flawed-loads.ts';

interface MeasureOptions {
  lab: Lab;
  network: LabNetwork;
  /** Script that runs Chromium on the client's side of the link. */
  chromium: string;
  site: Site;
  /** The protocol of each origin of the site under the action that hopwise recommends; null for no action. */
  assignment: Assignment | null;
  /** Number of loads of each of: the browser's own choice, each fixed protocol, the assignment. */
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

/** Page load times in Chromium. */
interface PageMeasurement {
  /** `natural` is the browser's own choice on a first visit. */
  measured: Partial<Record<LoadProtocol, RepeatedSpread | Unavailable>>;
  /** Requests of the natural loads by the protocol that the browser used for them. */
  naturalProtocols: Partial<Record<Protocol, number>>;
  warnings: string[];
}

/** In the order of the first round; `assigned` only with an assignment. */
const MEASURED: readonly LoadProtocol[] = ['natural', ...PROTOCOLS, 'assigned'];
const WHAT: Record<LoadProtocol, string> = {
  natural: "the browser's own choice",
  h1: 'HTTP/1.1',
  h2: 'HTTP/2',
  h3: 'HTTP/3',
  assigned: "hopwise's action",
};
/** More rounds than there are. */
const ROUNDS_BOUND = 1000;
/**
 * A fixed protocol whose loads all took more than this many times another one's slowest is measured no further: it
 * cannot come out ahead, and its loads are most of the run's time where UDP is policed.
 */
const HOPELESS_RATIO = 3;

/**
 * Real page loads of the browser's own choice, of each protocol forced and of hopwise's action: cold, one at a time,
 * taking turns.
 */
export async function measurePage(options: MeasureOptions): Promise<PageMeasurement> {
  const { lab, site, network, assignment, cleanup } = options;
  const kinds = MEASURED.filter((protocol) => protocol !== 'assigned' || assignment !== null);
  const browsers = {} as Record<LoadProtocol, WatchedBrowser>;
  for (const protocol of kinds) {
    options.signal.throwIfAborted();
    const browser = await MeasuringBrowser.launch({
      executablePath: options.chromium,
      protocol: protocol === 'assigned' ? { assignment: assignment! } : protocol,
      caSpki: lab.caSpki,
      hosts: lab.hosts,
      headed: options.headed,
    });
    cleanup.add(`Chromium for ${WHAT[protocol]}`, () => browser.close());
    browsers[protocol] = new WatchedBrowser(browser, lab, site);
  }
  const seed = network.seed ?? 1;
  let busyLinks = 0;
  let isAssigned = false;
  // On a machine that is never quiet the measurement takes twice as long, and no longer.
  const flawed = new FlawedLoads(kinds.length * options.loads, options.keepDisturbed);
  const measurement = await measureProtocols<LoadProtocol>({
    browsers,
    url: site.entry,
    loadsPerProtocol: options.loads,
    timeoutMs: options.timeoutMs,
    hooks: {
      async beforeLoad(protocol, { round, failures }) {
        // The last load's retransmissions would take the next one's share of the link.
        if (!(await lab.drain())) busyLinks++;
        // Which of HTTP/1.1 and HTTP/2 a browser uses is up to what the server offers.
        if (isAssigned !== (protocol === 'assigned')) {
          isAssigned = !isAssigned;
          await lab.offer(isAssigned ? assignment : null);
        }
        // Round by round all meet the same sequence of losses; after a failure, another one.
        await lab.configure({ ...network, seed: seed + 1 + round + ROUNDS_BOUND * failures });
        await lab.resetStats();
      },
      async afterLoad(protocol, { failed }) {
        return flawed.judge(protocol, failed, browsers[protocol].disturbedBy.length > 0);
      },
    },
    isEnough: isHopeless,
    onProgress: ({ protocol, done, total, load }) =>
      options.onProgress(
        `${done} of ${total} loads, ${WHAT[protocol]}: ${load.ok ? `${Math.round(load.pltMs)} ms` : load.reason}`,
      ),
    signal: options.signal,
  });
  if (isAssigned) await lab.offer(null);
  await lab.configure({ ...network, seed });
  const measured: PageMeasurement['measured'] = {};
  const warnings: string[] = [];
  if (busyLinks > 0) {
    warnings.push(`${count(busyLinks, 'load')} began while packets of the one before were on the link`);
  }
  for (const protocol of MEASURED) {
    const result = measurement[protocol];
    if (!result) continue;
    if ('unavailable' in result) {
      measured[protocol] = result;
      continue;
    }
    measured[protocol] = repeatedSpread(result, protocol, assignment);
    warnings.push(...warningsOf(result, WHAT[protocol]));
  }
  warnings.push(...flawed.describe(WHAT));
  return { measured, naturalProtocols: protocolsOf(measurement.natural), warnings };
}

/** Whether a fixed protocol's loads are all far slower than each load of another one. */
export function isHopeless(
  protocol: LoadProtocol,
  timesMs: Partial<Record<LoadProtocol, readonly number[]>>,
): boolean {
  const isFixed = (PROTOCOLS as readonly LoadProtocol[]).includes(protocol);
  const fastestMs = Math.min(...(timesMs[protocol] ?? []));
  return (
    isFixed &&
    PROTOCOLS.some((other) => {
      const times = timesMs[other] ?? [];
      return times.length > 0 && fastestMs > HOPELESS_RATIO * Math.max(...times);
    })
  );
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

function repeatedSpread(
  result: Measured,
  wanted: LoadProtocol,
  assignment: Assignment | null,
): RepeatedSpread {
  const requests = result.loads.flatMap((load) => load.requests);
  const isProved = ({ url, protocol }: (typeof requests)[number]) => {
    if (wanted === 'natural') return protocol !== null;
    return (
      protocol !== null && protocol === (wanted === 'assigned' ? assignment?.[originOf(url) ?? ''] : wanted)
    );
  };
  return {
    median: result.medianMs,
    low: result.lowMs,
    high: result.highMs,
    loadsMs: result.loads.map(({ pltMs }) => pltMs),
    n: result.loads.length,
    spread: result.range,
    proved: requests.filter(isProved).length,
    requests: requests.length,
  };
}

function protocolsOf(result: Measured | Unavailable | undefined): Partial<Record<Protocol, number>> {
  const counts: Partial<Record<Protocol, number>> = {};
  const loads = result && 'loads' in result ? result.loads : [];
  for (const { protocol } of loads.flatMap((load) => load.requests)) {
    if (protocol !== null) counts[protocol] = (counts[protocol] ?? 0) + 1;
  }
  return counts;
}

function warningsOf(result: Measured, what: string): string[] {
  const warnings: string[] = [];
  if (result.failed > 0) warnings.push(`${what}: ${count(result.failed, 'load')} failed and left out`);
  const wrong = result.loads.length - result.proved;
  if (wrong > 0)
    warnings.push(
      `${what}: ${wrong} of ${result.loads.length} loads had requests that were not proved to use their protocol`,
    );
  const incomplete = result.loads.filter((load) => load.failed.length > 0).length;
  if (incomplete > 0)
    warnings.push(`${what}: ${incomplete} of ${result.loads.length} loads had requests that failed`);
  return warnings;
}
