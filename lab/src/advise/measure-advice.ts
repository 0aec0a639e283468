import { join } from 'node:path';
import { gainOfAdvice, type Recording } from '@hopwise/pageload-emulator';
import { siteInitScript } from '../browser/determinism.ts';
import type { Lab, ServerChange } from '../client/lab.ts';
import { type LabNetwork, toNetworkPath } from '../client/networks.ts';
import { UserError } from '../command/errors.ts';
import { type Loader, type Measured, measureProtocols } from '../loads/measure-protocols.ts';
import type { MeasuringBrowser } from '../loads/measuring-browser.ts';
import type { Site } from '../sites/site.ts';
import { writeSite } from '../sites/write-site.ts';
import { bootstrapMedianRatio } from '../statistics.ts';
import { serversFollowing, siteFollowing, type TestableAdvice, testableAdvice } from './server-changes.ts';
import { readSiteFiles } from './site-changes.ts';

export interface AdviceMeasurement {
  lab: Lab;
  browser: MeasuringBrowser;
  site: Site;
  /** Folder of the site. */
  dir: string;
  /** Folder for copies of the site that follow advice. */
  scratch: string;
  network: LabNetwork;
  /** Whether the servers offer HTTP/3 before any advice. */
  offersH3: boolean;
  /** Loads before, and with each advice. */
  loads: number;
  timeoutMs: number;
  onProgress: (text: string) => void;
  signal: AbortSignal;
}

/** What one advice gains, as shares of the load time. */
export interface MeasuredAdvice {
  kind: TestableAdvice;
  /** By the recording of the first load before the advice. */
  predicted: number;
  /** Of the medians, with its 95% interval. */
  measured: { gain: number; low: number; high: number };
}

type Series = TestableAdvice | 'before';

/**
 * First visits to a page in real Chromium, by its own choice of protocols, before any advice and with each one followed by all servers or by the page.
 * They take turns, and those of one round meet the same sequence of losses.
 *
 * @throws UserError when the page does not load
 */
export async function measureAdvice(options: AdviceMeasurement): Promise<MeasuredAdvice[]> {
  const { lab, site, network, offersH3, browser } = options;
  const sites = await writeSites(options);
  const kinds = [...sites.keys()];
  const all: Series[] = ['before', ...kinds];
  const loader: Loader = {
    load: (url, limits) => browser.load(url, { ...limits, ...siteInitScript(site) }),
  };
  const measurement = await measureProtocols<Series>({
    browsers: Object.fromEntries(all.map((series) => [series, loader])),
    url: site.entry,
    loadsPerProtocol: options.loads,
    timeoutMs: options.timeoutMs,
    hooks: {
      async beforeLoad(series, { round, failures }) {
        await lab.drain();
        await lab.serve(series === 'before' ? options.dir : sites.get(series)!);
        await lab.configureServers(
          everywhere(site, serversFollowing(series === 'before' ? null : series, offersH3)),
        );
        await lab.configure({ ...network, seed: 1 + round + 1_000 * failures });
      },
    },
    onProgress: ({ protocol, done, total, load }) =>
      options.onProgress(
        `${done} of ${total} loads, ${protocol}: ${load.ok ? `${Math.round(load.pltMs)} ms` : load.reason}`,
      ),
    signal: options.signal,
  });
  const resultOf = (series: Series): Measured => {
    const result = measurement[series];
    if (result && 'loads' in result) return result;
    throw new UserError(`${site.name}, ${series}: ${result?.unavailable ?? 'no load'}`);
  };
  const timesOf = (series: Series) => resultOf(series).loads.map(({ pltMs }) => pltMs);
  const recording = recordingOf(resultOf('before'));
  const path = toNetworkPath(network);
  return kinds.map((kind) => {
    const ratio = bootstrapMedianRatio(timesOf(kind), timesOf('before'));
    return {
      kind,
      predicted: gainOfAdvice(recording, kind, path),
      measured: { gain: 1 - ratio.estimate, low: 1 - ratio.high, high: 1 - ratio.low },
    };
  });
}

/** Folders of the site by advice. Advice that changes nothing is left out. */
async function writeSites({ site, dir, scratch, offersH3 }: AdviceMeasurement) {
  const before = await readSiteFiles(site, dir);
  const sites = new Map<TestableAdvice, string>();
  for (const kind of testableAdvice(offersH3)) {
    const after = siteFollowing(kind, before);
    if (after === null) continue;
    if (after === before) sites.set(kind, dir);
    else {
      sites.set(kind, join(scratch, kind));
      await writeSite(after, join(scratch, kind));
    }
  }
  return sites;
}

const everywhere = ({ origins }: Site, change: ServerChange): Record<string, ServerChange> =>
  Object.fromEntries(origins.map(({ origin }) => [origin, change]));

function recordingOf({ loads }: Measured): Recording {
  const recording = loads[0]?.recording;
  if (!recording) throw new Error('the load was not recorded');
  return recording;
}
