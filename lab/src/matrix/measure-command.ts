/** `npm run lab`: measures a matrix of pages, networks and protocols. */
import { execFile } from 'node:child_process';
import { cpus, release } from 'node:os';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { type BrowserKind, browserProgram } from '../browser/browser-program.ts';
import { labObstacle } from '../client/lab.ts';
import {
  type LabNetwork,
  type NetworkProfile,
  networkOf,
  profileNamed,
  readProfiles,
  unmodelled,
} from '../client/networks.ts';
import { firstLine, UserError } from '../command/errors.ts';
import type { ProgramContext } from '../command/program.ts';
import type { GroundTruthLoad, GroundTruthMatrix, View } from '../ground-truth/ground-truth.ts';
import { GroundTruthStore, joinedMatrix, readLoads, readMatrix } from '../ground-truth/store.ts';
import { Assignments, readAssignments } from './assignments.ts';
import { Done, type PlannedLoad, planLoads } from './matrix.ts';
import { isCachedWhole, type MatrixPage, openPages } from './matrix-page.ts';
import { MatrixProgress } from './matrix-progress.ts';
import type { MatrixOptions } from './options.ts';
import { PageLab } from './page-lab.ts';
import { isUdpBlocked, type MatrixResult, runMatrix } from './run-matrix.ts';

/**
 * @returns null when only the plan was asked for
 * @throws UserError with one line for an error that the user can fix
 */
export async function measureMatrix(
  options: MatrixOptions,
  context: ProgramContext,
): Promise<MatrixResult | null> {
  const { cleanup, signal, say } = context;
  const profiles = profilesOf(options.networks, options.networkFile);
  const assignmentFile =
    options.assignments === undefined ? null : await readAssignments(options.assignments);
  const pages = await openPages(options.pages, signal);
  const browser = await openBrowser(options.browser, say);

  const networks: Record<string, LabNetwork> = {};
  const titled: GroundTruthMatrix['networks'] = {};
  for (const [name, profile] of Object.entries(profiles)) {
    networks[name] = networkOf(profile);
    titled[name] = { title: profile.title, network: networkOf(profile) };
  }
  const { congestionControl, initialWindow, priorities, ipVersion, timeoutMs } = options;
  const server = { congestionControl, initialWindow, priorities };
  const done = new Done(({ protocol, network }) => isUdpBlocked(protocol, networks[network] as LabNetwork));
  const assignments = new Assignments(assignmentFile);
  const dir = resolve(options.out);
  const asked: GroundTruthMatrix = {
    format: 'hopwise-ground-truth',
    version: 1,
    networks: titled,
    pages: Object.fromEntries(pages.map(({ name, facts }) => [name, facts])),
    protocols: options.protocols,
    views: options.views,
    seeds: options.seeds,
    browser: browser.name,
    server,
    ipVersion,
    timeoutMs,
    machine: { cpu: cpus()[0]?.model.trim() ?? 'unknown', cores: cpus().length, kernel: release() },
  };
  const onLoad = (load: GroundTruthLoad): void => {
    if (!(load.disturbed && options.repeatDisturbed)) done.add(load);
    assignments.add(load);
  };
  const plan = planLoads({
    ...options,
    pages: pages.map(({ name }) => name),
    networks: Object.keys(networks),
  });
  const bytes = new Map(pages.map(({ name, facts }) => [name, facts.bytes]));
  const weigh = (load: PlannedLoad): number =>
    expectedMs(load, bytes.get(load.page) ?? 0, networks[load.network] as LabNetwork);
  const progress = new MatrixProgress(weigh);
  const announce = (): void => {
    const left = plan.filter((load) => !done.has(load));
    const minutes = left.reduce((sum, load) => sum + weigh(load), 0) / 60_000;
    progress.say(
      `${plan.length} loads: ${pages.length} pages × ${Object.keys(networks).length} networks × ${options.protocols.join(', ')} × ${options.seeds.length} seeds${options.views.length > 1 ? ' × cold and warm' : ''}, in ${browser.name}, into ${options.out}`,
    );
    if (left.length < plan.length) progress.say(`${plan.length - left.length} of them exist already`);
    progress.say(
      `${left.length} to make: about ${Math.ceil(minutes)} minutes, estimated from sizes, rates and round trips`,
    );
    for (const remark of remarks(networks, pages, options.views)) progress.say(remark);
  };
  if (options.plan) {
    const present = await readMatrix(dir);
    if (present) joinedMatrix(dir, present, asked);
    for await (const load of readLoads(dir)) onLoad(load);
    announce();
    return null;
  }
  const obstacle = await labObstacle();
  if (obstacle !== null) throw new UserError(obstacle);
  await context.useScratch();
  const store = await GroundTruthStore.open(dir, asked, onLoad);
  cleanup.add(`the lock of ${options.out}`, () => store.close());
  announce();
  if (store.cutBytes > 0) progress.say(`${store.cutBytes} bytes of a partly written load are cut off`);
  const result = await runMatrix({
    plan,
    done,
    pages,
    networks,
    assignments,
    store,
    async openLab(network, page) {
      const own = { page, program: browser.path, server, ipVersion, timeoutMs, cleanup, signal };
      const lab = await PageLab.up(network, own);
      await store.addLab(lab.facts);
      return lab;
    },
    quietLimitMs: options.quietLimitMs,
    ...(options.limitMs === undefined ? {} : { limitMs: options.limitMs }),
    progress,
    signal,
  });
  progress.say(inWords(result));
  return result;
}

/** Warnings about what the results cannot show. */
function remarks(networks: Record<string, LabNetwork>, pages: MatrixPage[], views: View[]): string[] {
  const unknown = Object.entries(networks).map(([name, network]) => {
    const figures = unmodelled(network).join(', ');
    return figures && `${name}: ${figures}: the lab emulates this, but hopwise's predictions do not model it`;
  });
  const cached = pages.map(
    ({ name, site }) =>
      views.includes('warm') &&
      isCachedWhole(site) &&
      `${name}: the cache may answer all of it, so its repeat view loads nothing and proves no protocol`,
  );
  return [...unknown, ...cached].filter((remark) => typeof remark === 'string' && remark !== '') as string[];
}

function inWords({ kept, left, dropped, retried, disturbed, failed, overheadMs }: MatrixResult): string {
  return [
    `${kept} loads kept`,
    failed > 0 ? `${failed} of them failed` : '',
    retried > 0 ? `${retried} that failed made again` : '',
    dropped > 0 ? `${dropped} disturbed ones dropped and made again` : '',
    disturbed > 0 ? `${disturbed} kept although disturbed` : '',
    overheadMs === null ? '' : `${Math.round(overheadMs)} ms a load besides its page load time`,
    left > 0 ? `${left} left: run the same command to continue` : '',
  ]
    .filter((part) => part !== '')
    .join('; ');
}

function profilesOf(names: string[], file: string | undefined): Record<string, NetworkProfile> {
  const profiles = { ...readProfiles(), ...(file === undefined ? {} : ownProfiles(file)) };
  if (names.includes('all')) return profiles;
  try {
    return Object.fromEntries(names.map((name) => [name, profileNamed(name, profiles)]));
  } catch (error) {
    throw new UserError(`--networks: ${firstLine(error)}, all`, 2);
  }
}

function ownProfiles(file: string): Record<string, NetworkProfile> {
  let profiles: Record<string, NetworkProfile>;
  try {
    profiles = readProfiles(resolve(file));
  } catch (error) {
    throw new UserError(`--network-file ${firstLine(error)}`, 2);
  }
  const known = readProfiles();
  const twin = Object.keys(profiles).find((name) => Object.hasOwn(known, name));
  if (twin !== undefined)
    throw new UserError(
      `--network-file ${file}: ${twin}: lab/networks.json already has that name: choose another`,
      2,
    );
  return profiles;
}

const BROWSER_NAME: Record<BrowserKind, string> = {
  'headless-shell': 'Chromium headless shell',
  full: 'Chromium',
};

/** The requested browser; by default the headless shell, or the full browser where that is not installed. */
async function openBrowser(
  wish: BrowserKind | undefined,
  say: (line: string) => void,
): Promise<{ path: string; name: string }> {
  let kind: BrowserKind = wish ?? 'headless-shell';
  let path: string;
  try {
    path = browserProgram(kind);
  } catch (error) {
    if (wish !== undefined) throw error;
    kind = 'full';
    path = browserProgram(kind);
    say(`loads are made in the full browser, which costs more processor time: ${firstLine(error)}`);
  }
  const { stdout } = await promisify(execFile)(path, ['--version']).catch((error) => {
    throw new UserError(`${path}: ${firstLine(error)}`);
  });
  const version = /\d+(\.\d+){3}/.exec(stdout)?.[0];
  if (version === undefined) throw new UserError(`${path}: expected Chromium, got ${firstLine(stdout)}`);
  return { path, name: `${BROWSER_NAME[kind]} ${version}` };
}

/** Rough estimate in milliseconds; progress later goes by the real durations of loads. */
function expectedMs({ protocol, view }: PlannedLoad, bytes: number, network: LabNetwork): number {
  const OVERHEAD_MS = 1000;
  const ROUND_TRIPS = 12;
  // A blocked protocol is tried for one seed only.
  if (protocol === 'h3' && network.udp === 'blocked') return 2000;
  const policed = protocol === 'h3' && typeof network.udp === 'object' ? network.udp.policedMbps : Infinity;
  const rateMbps = Math.min(network.downMbps, policed);
  const cold = (bytes * 8) / (rateMbps * 1000) + ROUND_TRIPS * network.rttMs;
  return OVERHEAD_MS + (view === 'warm' ? 2 : 1) * cold;
}
