import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { adviseHeadLinks, type HeadLink, type Recording } from '@hopwise/pageload-emulator';
import { siteInitScript } from '../browser/determinism.ts';
import type { Lab, SiteServerChange } from '../client/lab.ts';
import type { LabNetwork } from '../client/networks.ts';
import type { ServerStack } from '../client/server-stack.ts';
import { UserError } from '../command/errors.ts';
import { disturbedBy, type Watched, watchDisturbance } from '../loads/disturbance.ts';
import { type Loader, measureProtocols } from '../loads/measure-protocols.ts';
import type { BrowserLoadOptions, Load, MeasuringBrowser } from '../loads/measuring-browser.ts';
import { processorSpeed } from '../loads/processor-speed.ts';
import type { PageSource } from '../pages/page-source.ts';
import type { Site } from '../sites/site.ts';
import { type GeneratedSite, writeSite } from '../sites/write-site.ts';
import {
  recordedWith,
  SET_UPS,
  type SetUpName,
  serversIn,
  setUpsFor,
  type TestableAdvice,
} from './set-ups.ts';
import { isCompressible, readSiteFiles } from './site-changes.ts';

/** Loads of one page on one network. */
export interface AdviceCell {
  page: string;
  network: string;
  path: LabNetwork;
  stack: ServerStack;
  /** Load times, milliseconds, by round; loads of the same round met the same sequence of losses. */
  timesMs: Partial<Record<SetUpName, number[]>>;
  /** One load with each set-up; those that advice is given by, ahead of the others. */
  recordings: Partial<Record<SetUpName, Recording>>;
  /** What gzip makes of text that is not compressed, bytes by URL. */
  gzipBytes: Record<string, number>;
}

export interface CellOptions {
  lab: Lab;
  /** One that resolves names by the hosts file, and one that finds HTTPS records. */
  browsers: { plain: MeasuringBrowser; withRecords: MeasuringBrowser };
  source: PageSource;
  network: string;
  path: LabNetwork;
  /** That the lab runs. */
  stack: ServerStack;
  kinds: readonly TestableAdvice[];
  /** With each set-up. */
  loads: number;
  timeoutMs: number;
  /** Whether loads count although other work on the machine disturbed them; they are repeated otherwise. */
  keepsDisturbed: boolean;
  /** Folder for copies of the site. */
  scratch: string;
  onProgress: (text: string) => void;
  signal: AbortSignal;
}

/**
 * Loads a page in real Chromium with each set-up that the advice takes. The set-ups take turns. Advice that changes nothing on the page is
 * left out.
 *
 * @throws UserError when the page does not load
 */
export async function measureCell(options: CellOptions): Promise<AdviceCell> {
  const { source, network, path, stack, signal } = options;
  const { site } = source;
  const before = await readSiteFiles(site, source.dir);
  const loaders = new SetUpLoaders(options, before);
  const recordings: AdviceCell['recordings'] = {};
  for (const name of new Set<SetUpName>(['usual', ...options.kinds.map(recordedWith)])) {
    // Without what the head could announce, which the recordings show.
    await loaders.prepare(name, []);
    recordings[name] = await loaders.record(name);
  }
  const preloads = adviseHeadLinks(recordings.usual!, 'preload');
  const names: SetUpName[] = [];
  for (const name of setUpsFor(options.kinds)) if (await loaders.prepare(name, preloads)) names.push(name);
  const measurement = await measureProtocols<SetUpName>({
    browsers: Object.fromEntries(names.map((name) => [name, loaders.of(name)])),
    url: site.entry,
    loadsPerProtocol: options.loads,
    timeoutMs: options.timeoutMs,
    hooks: {
      beforeLoad: (name, { round, failures }) => loaders.serve(name, 1 + round + 1_000 * failures),
      afterLoad: async () => (loaders.isDisturbed && !options.keepsDisturbed ? 'repeat' : 'keep'),
    },
    onProgress: ({ protocol, done, total, load }) =>
      options.onProgress(
        `${site.name} on ${network}: ${done} of ${total} loads, ${protocol}: ${load.ok ? `${Math.round(load.pltMs)} ms` : load.reason}`,
      ),
    signal,
  });
  const timesMs: AdviceCell['timesMs'] = {};
  for (const name of names) {
    const result = measurement[name];
    if (!result || !('loads' in result)) {
      throw new UserError(`${site.name} on ${network}, ${name}: ${result?.unavailable ?? 'no load'}`);
    }
    timesMs[name] = result.loads.map(({ pltMs }) => pltMs);
    const first = result.loads[0]?.recording;
    if (first) recordings[name] ??= first;
  }
  return { page: source.name, network, path, stack, timesMs, recordings, gzipBytes: gzipBytes(before) };
}

/** The loads of one cell by set-up. */
class SetUpLoaders {
  readonly #options: CellOptions;
  readonly #before: GeneratedSite;
  /** The page's copies. */
  readonly #copies = new Map<SetUpName, Pick<PageSource, 'dir' | 'site'>>();
  #watched: Watched | null = null;
  #seed = 1;

  constructor(options: CellOptions, before: GeneratedSite) {
    this.#options = options;
    this.#before = before;
  }

  /** Whether other work on the machine disturbed the last load. */
  get isDisturbed(): boolean {
    return this.#watched !== null && disturbedBy(this.#watched).length > 0;
  }

  /** Writes the page's copy for a set-up. @returns false where it is the page as it is */
  async prepare(name: SetUpName, preloads: readonly HeadLink[]): Promise<boolean> {
    const { source, scratch } = this.#options;
    const { changeSite } = SET_UPS[name];
    this.#copies.set(name, source);
    if (!changeSite) return true;
    const changed = changeSite(this.#before, preloads);
    if (changed === null) return false;
    const dir = join(scratch, `${source.name.replace(/[^\w-]/g, '-')}-${name}`);
    await writeSite(changed, dir);
    this.#copies.set(name, { dir, site: changed.site });
    return true;
  }

  /** Makes one load of the page's copy. */
  async record(name: SetUpName): Promise<Recording> {
    const { source, timeoutMs } = this.#options;
    await this.serve(name, 1);
    const load = await this.of(name).load(source.site.entry, { timeoutMs });
    if (!load.ok || load.recording === null) {
      throw new UserError(`${source.name}, ${name}: ${load.ok ? 'the load was not recorded' : load.reason}`);
    }
    return load.recording;
  }

  async serve(name: SetUpName, seed: number): Promise<void> {
    this.#seed = seed;
    const { lab, path, stack } = this.#options;
    const { dir, site } = this.#copies.get(name)!;
    await lab.drain();
    await lab.serve(dir);
    await lab.configureServers(everywhere(site, serversIn(name, stack)));
    await lab.configure({ ...path, seed });
    await lab.resetStats();
  }

  of(name: SetUpName): Loader {
    const { browsers, lab, source } = this.#options;
    const { view = 'cold', hasRecords } = SET_UPS[name];
    const browser = hasRecords ? browsers.withRecords : browsers.plain;
    return {
      // The page's copy may be entered through a redirect, at another URL.
      load: async (_url: string, limits: BrowserLoadOptions) => {
        const { entry } = this.#copies.get(name)!.site;
        let watch = await watchDisturbance({ lab });
        this.#watched = null;
        return browser.load(entry, {
          ...limits,
          ...siteInitScript(source.site),
          view,
          betweenViews: () => this.serve(name, this.#seed),
          onNavigation: async () => {
            watch = await watchDisturbance({ lab, slowdown: () => processorSpeed.slowdown() });
          },
          onLoadEvent: async () => {
            this.#watched = await watch.end();
          },
        }) as Promise<Load>;
      },
    };
  }
}

const everywhere = ({ origins }: Site, servers: SiteServerChange) =>
  Object.fromEntries(origins.map(({ origin }) => [origin, servers]));

/** Bytes of each text that is not compressed, by gzip at the level that zlib defaults to. */
function gzipBytes({ site, files }: GeneratedSite): Record<string, number> {
  return Object.fromEntries(
    site.resources.flatMap((resource) =>
      isCompressible(resource)
        ? [[resource.origin + resource.path, gzipSync(files.get(resource.body.file)!).length]]
        : [],
    ),
  );
}
