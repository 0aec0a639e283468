import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '@hopwise/contract';
import { Lab } from '@hopwise/lab/client/lab';
import { networkOf } from '@hopwise/lab/client/networks';
import { UserError } from '@hopwise/lab/command/errors';
import type { ProgramContext } from '@hopwise/lab/command/program';
import { disturbedBy, type Watched, watchDisturbance } from '@hopwise/lab/loads/disturbance';
import type { PageSource } from '@hopwise/lab/pages/page-source';
import type { Site } from '@hopwise/lab/sites/site';
import { subtractTimes } from '../recorder/processor-time.ts';
import { ArmBrowser } from './arm-browser.ts';
import { BROWSERS, type BrowserName, type ProductArm } from './arms.ts';
import { keepLoad } from './kept-loads.ts';
import { networkNamed } from './networks.ts';
import { stackOf, writeServed } from './start-rate-servers.ts';
import { addVisits, readVisits, type StoredVisit } from './store.ts';

const SETTLE_MS = 5_000;
const REST_MS = 60_000;

interface ProductPlan {
  browser: BrowserName;
  pages: readonly PageSource[];
  /** Names of networks; several with `>` between them replace one another during the visits of each page. */
  networks: readonly string[];
  arms: readonly ProductArm[];
  /** Arms that are only measured at the first of so many visits, as a reference. */
  references?: { arms: readonly ProductArm[]; every: number };
  /** Whether the autopilot's runs are asked for after each visit. */
  listsRuns?: boolean;
  /** Whether browsers have an HTTP cache. */
  usesCache?: boolean;
  /** Whether each load is kept as the extension exports it. */
  keepsLoads?: boolean;
  visits: number;
  seed: number;
}

/** The networks that replace one another, see `ProductPlan`. */
export const partsOf = (network: string): string[] => network.split('>');

/** The network of a visit, numbered from 1. */
export function networkAt(network: string, visit: number, visits: number): string {
  const parts = partsOf(network);
  return parts[Math.floor(((visit - 1) * parts.length) / visits)]!;
}

/** The arms that are measured at a visit. */
function armsAt({ arms, references }: ProductPlan, visit: number): readonly ProductArm[] {
  return references && (visit - 1) % references.every === 0 ? [...arms, ...references.arms] : arms;
}

/** Visits of all arms to all pages on one network. */
function countVisits(plan: ProductPlan): number {
  let count = 0;
  for (let visit = 1; visit <= plan.visits; visit++) count += armsAt(plan, visit).length;
  return plan.pages.length * count;
}

/**
 * On each network every arm visits the pages one after another, with a profile of its own that is kept from page to page. The arms
 * take turns at each visit, with the same sequence of losses.
 */
export async function runProduct(
  dir: string,
  plan: ProductPlan,
  context: ProgramContext,
): Promise<StoredVisit[]> {
  const visits = await readVisits(dir);
  const { usesCache = false } = plan;
  if (visits.some((visit) => visit.usesCache !== usesCache))
    throw new UserError(
      `${dir} has visits ${usesCache ? 'without' : 'with'} the HTTP cache: expected another folder`,
      2,
    );
  for (const network of plan.networks) {
    const isOwn = (visit: StoredVisit) => visit.network === network && visit.browser === plan.browser;
    const done = visits.filter(isOwn);
    if (done.length === countVisits(plan)) continue;
    if (done.length > 0) {
      // Profiles are not kept over runs, and later visits depend on earlier ones.
      context.say(`${network}: begun again, as it was interrupted`);
      visits.splice(0, visits.length, ...visits.filter((visit) => !isOwn(visit)));
    }
    const own = await runNetwork(dir, network, plan, context);
    visits.push(...own);
    await addVisits(dir, own);
  }
  return visits;
}

async function runNetwork(
  dir: string,
  network: string,
  plan: ProductPlan,
  { say, signal, cleanup }: ProgramContext,
): Promise<StoredVisit[]> {
  const { pages, visits, seed, browser: name, usesCache = false } = plan;
  const arms = [...plan.arms, ...(plan.references?.arms ?? [])];
  const site = join(dir, 'all-origins');
  await writeUnion(site, pages);
  const lab = await Lab.up({
    site,
    network: networkOf(networkNamed(partsOf(network)[0]!)),
    publicAddresses: true,
    stack: stackOf(arms),
    signal,
  });
  cleanup.add('the lab', () => lab.down());
  const browsers = new Map<ProductArm, ArmBrowser>();
  const opened: ArmBrowser[] = [];
  const open = async (arm: ProductArm): Promise<ArmBrowser> => {
    const browser = await ArmBrowser.launch(name, arm, lab, usesCache);
    opened.push(browser);
    cleanup.add(`${BROWSERS[name]}, ${arm}`, () => browser.close());
    return browser;
  };
  try {
    // The server's first answers of a page are slower: a browser of its own gets them.
    const first = await open('off');
    for (const arm of arms) browsers.set(arm, await open(arm));
    await warmUp(lab, pages[0]!, opened);
    const stored: StoredVisit[] = [];
    for (const [number, page] of pages.entries()) {
      const served = await writeServed(dir, page, arms);
      await lab.serve(page.dir);
      await first.visit(page.site, NOTHING);
      for (let visit = 1; visit <= visits; visit++) {
        const due = armsAt(plan, visit);
        const profile = networkNamed(networkAt(network, visit, visits));
        for (let turn = 0; turn < due.length; turn++) {
          signal.throwIfAborted();
          // Another arm begins each time, so that drift of the machine meets all alike.
          const arm = due[(turn + visit + number) % due.length]!;
          await lab.serve(served(arm));
          await lab.drain();
          await lab.configure(networkOf(profile, seed * 1_000_003 + number * 1_009 + visit));
          const browser = browsers.get(arm)!;
          const { url, ...measured } = await visitWatched(lab, browser, page.site);
          await browser.verify(url);
          const runs = plan.listsRuns ? await browser.listRuns(url) : null;
          if (plan.keepsLoads) {
            const load = await browser.exportLoad(url).catch((error) => {
              say(`${network}, ${page.name}, visit ${visit}: no load of ${arm} is kept: ${messageOf(error)}`);
              return null;
            });
            if (load) await keepLoad(dir, { browser: name, network, page: page.name, visit, arm }, load);
          }
          stored.push({
            browser: name,
            network,
            page: page.name,
            visit,
            arm,
            usesCache,
            ...measured,
            ...(runs && { runs }),
          });
        }
        const last = stored.slice(-due.length);
        const times = due.map((arm) => `${arm} ${Math.round(last.find((each) => each.arm === arm)!.pltMs)}`);
        say(`${network}, ${page.name}, visit ${visit}: ${times.join(', ')} ms`);
      }
    }
    await measureRest(browsers, stored, signal);
    return stored;
  } finally {
    for (const browser of opened) await browser.close();
    await lab.down();
  }
}

/** The first load of a browser's process is slower: each loads a page of an origin that is used for nothing else. */
async function warmUp(lab: Lab, { site }: PageSource, browsers: readonly ArmBrowser[]): Promise<void> {
  for (const browser of browsers) await browser.visit({ ...site, entry: WARM_UP_URL }, NOTHING);
  await lab.drain();
}

/** Adds to the last visit of each arm what its browser does in a minute without a page. */
async function measureRest(
  browsers: ReadonlyMap<ProductArm, ArmBrowser>,
  stored: readonly StoredVisit[],
  signal: AbortSignal,
): Promise<void> {
  // The last visit's tabs have just been closed.
  await sleep(SETTLE_MS, undefined, { signal });
  const before = new Map([...browsers].map(([arm, browser]) => [arm, browser.readProcessorTimes()]));
  await sleep(REST_MS, undefined, { signal });
  for (const [arm, browser] of browsers) {
    const last = stored.findLast((visit) => visit.arm === arm);
    if (last) last.restMs = subtractTimes(browser.readProcessorTimes(), before.get(arm)!);
  }
}

const nothing = async (): Promise<void> => undefined;
const NOTHING = { onNavigation: nothing, onLoad: nothing };

async function visitWatched(
  lab: Lab,
  browser: ArmBrowser,
  site: Site,
): Promise<
  Omit<StoredVisit, 'browser' | 'network' | 'page' | 'visit' | 'arm' | 'usesCache' | 'runs'> & { url: string }
> {
  await lab.resetStats();
  let watch = await watchDisturbance({ lab });
  let watched: Watched | null = null;
  const visit = await browser.visit(site, {
    onNavigation: async () => {
      watch = await watchDisturbance({ lab });
    },
    onLoad: async () => {
      watched = await watch.end();
    },
  });
  return { ...visit, disturbedBy: disturbedBy(watched!) };
}

const WARM_UP_ORIGIN = 'https://warm-up.test';
const WARM_UP_URL = `${WARM_UP_ORIGIN}/`;

/** Writes a site with the origins of all pages, which the lab is started with, and a page for the first load of each browser. */
async function writeUnion(dir: string, pages: readonly PageSource[]): Promise<void> {
  const origins = new Map(
    pages.flatMap(({ site }) => site.origins).map((origin) => [origin.origin, origin] as const),
  );
  const union: Site = {
    format: 'hopwise-site',
    version: 1,
    name: 'all-origins',
    entry: WARM_UP_URL,
    origins: [...origins.values(), { origin: WARM_UP_ORIGIN, protocols: ['h1', 'h2', 'h3'], extraRttMs: 0 }],
    resources: [
      {
        origin: WARM_UP_ORIGIN,
        path: '/',
        status: 200,
        headers: { 'content-type': 'text/html' },
        body: { file: 'index.html' },
        thinkMs: 0,
      },
    ],
  };
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, 'index.html'), '<!doctype html><title>warm-up</title>');
  await writeFile(join(dir, 'site.json'), JSON.stringify(union));
}
