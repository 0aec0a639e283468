/** Measures planned loads into a folder of measured loads, or only announces them. */
import { execFile } from 'node:child_process';
import { cpus, release } from 'node:os';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { firstLine } from '@hopwise/contract';
import { type BrowserKind, browserProgram } from '../browser/browser-program.ts';
import { startFailure } from '../browser/start-failure.ts';
import { labObstacle } from '../client/lab.ts';
import { type LabNetwork, unmodelled } from '../client/networks.ts';
import { frontPrograms } from '../client/server-stack.ts';
import { UserError } from '../command/errors.ts';
import type { ProgramContext } from '../command/program.ts';
import type { GroundTruthLoad, GroundTruthMatrix, View } from '../ground-truth/ground-truth.ts';
import { GroundTruthStore, joinedMatrix, readLoads, readMatrix } from '../ground-truth/store.ts';
import { type AssignmentFile, Assignments } from './assignments.ts';
import { Done, type PlannedLoad } from './matrix.ts';
import { isCachedWhole, type MatrixPage } from './matrix-page.ts';
import { MatrixProgress } from './matrix-progress.ts';
import type { MatrixOptions } from './options.ts';
import { PageLab } from './page-lab.ts';
import { isUdpBlocked, type MatrixResult, runMatrix } from './run-matrix.ts';

/** Loads to make, and how. */
interface Plan
  extends Pick<
    MatrixOptions,
    | 'protocols'
    | 'views'
    | 'seeds'
    | 'out'
    | 'browser'
    | 'ipVersion'
    | 'timeoutMs'
    | 'limitMs'
    | 'quietLimitMs'
    | 'repeatDisturbed'
  > {
  /** In words, for the announcement. */
  title: string;
  loads: PlannedLoad[];
  pages: MatrixPage[];
  networks: GroundTruthMatrix['networks'];
  /** Settings of origins that their site does not configure. */
  server: Omit<GroundTruthMatrix['server'], 'tcp' | 'quic'>;
  assignmentFile: AssignmentFile | null;
  /** Announces the loads and makes none. */
  onlyPlan: boolean;
}

/**
 * @returns null when only the plan was asked for
 * @throws UserError with one line for an error that the user can fix
 */
export async function measurePlan(plan: Plan, context: ProgramContext): Promise<MatrixResult | null> {
  const { cleanup, signal, say } = context;
  const { pages, loads, server, ipVersion, timeoutMs } = plan;
  const browser = await openBrowser(plan.browser, say);
  const networks = Object.fromEntries(
    Object.entries(plan.networks).map(([name, { network }]) => [name, network]),
  );
  const done = new Done(({ protocol, network }) => isUdpBlocked(protocol, networks[network] as LabNetwork));
  const assignments = new Assignments(plan.assignmentFile);
  const dir = resolve(plan.out);
  const asked: GroundTruthMatrix = {
    format: 'hopwise-ground-truth',
    version: 1,
    networks: plan.networks,
    pages: Object.fromEntries(pages.map(({ name, facts }) => [name, facts])),
    protocols: plan.protocols,
    views: plan.views,
    seeds: plan.seeds,
    browser: browser.name,
    server,
    ipVersion,
    timeoutMs,
    machine: { cpu: cpus()[0]?.model.trim() ?? 'unknown', cores: cpus().length, kernel: release() },
  };
  const onLoad = (load: GroundTruthLoad): void => {
    if (!(load.disturbed && plan.repeatDisturbed)) done.add(load);
    assignments.add(load);
  };
  const bytes = new Map(pages.map(({ name, facts }) => [name, facts.bytes]));
  const weigh = (load: PlannedLoad): number =>
    expectedMs(load, bytes.get(load.page) ?? 0, networks[load.network] as LabNetwork);
  const progress = new MatrixProgress(weigh);
  const announce = (): void => {
    const left = loads.filter((load) => !done.has(load));
    const minutes = Math.ceil(left.reduce((sum, load) => sum + weigh(load), 0) / 60_000);
    progress.say(`${loads.length} loads: ${plan.title}, in ${browser.name}, into ${plan.out}`);
    if (left.length < loads.length) progress.say(`${loads.length - left.length} of them exist already`);
    progress.say(
      `${left.length} to make: about ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}, estimated from sizes, rates and round trips`,
    );
    for (const remark of remarks(networks, pages, plan.views)) progress.say(remark);
  };
  if (plan.onlyPlan) {
    const present = await readMatrix(dir);
    if (present) joinedMatrix(dir, present, asked);
    for await (const load of readLoads(dir)) onLoad(load);
    announce();
    return null;
  }
  const obstacle = await labObstacle();
  if (obstacle !== null) throw new UserError(obstacle);
  // The first lab would set them up too, but without a word.
  if (server.stack === 'nginx-quiche') await setUpFronts(pages, context);
  await context.useScratch();
  const store = await GroundTruthStore.open(dir, asked, onLoad);
  cleanup.add(`the lock of ${plan.out}`, () => store.close());
  announce();
  if (store.cutBytes > 0) progress.say(`${store.cutBytes} bytes of a partly written load are cut off`);
  const result = await runMatrix({
    plan: loads,
    done,
    pages,
    networks,
    assignments,
    store,
    async openLab(page, network) {
      const own = { program: browser.path, server, ipVersion, timeoutMs, cleanup, signal };
      const lab = await PageLab.up(page, network, own);
      await store.addLab(lab.facts);
      return lab;
    },
    quietLimitMs: plan.quietLimitMs,
    ...(plan.limitMs === undefined ? {} : { limitMs: plan.limitMs }),
    progress,
    signal,
  });
  progress.say(inWords(result));
  return result;
}

/** @throws UserError in one line that says what is missing */
async function setUpFronts(pages: MatrixPage[], { say: log, signal }: ProgramContext): Promise<void> {
  for (const { dir } of pages) {
    await frontPrograms(dir, { log, signal }).catch((error) => {
      throw new UserError(`--server nginx: ${firstLine(error)}`);
    });
  }
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
    throw startFailure(error, path);
  });
  const version = /\d+(\.\d+){3}/.exec(stdout)?.[0];
  if (version === undefined) throw new UserError(`${path}: expected Chromium, got ${firstLine(stdout)}`);
  return { path, name: `${BROWSER_NAME[kind]} ${version}` };
}

/** Rough estimate in milliseconds; progress later goes by the real durations of loads. */
export function expectedMs(
  { protocol, view }: Pick<PlannedLoad, 'protocol' | 'view'>,
  bytes: number,
  network: LabNetwork,
): number {
  const OVERHEAD_MS = 1000;
  const ROUND_TRIPS = 12;
  // A blocked protocol is tried for one seed only.
  if (protocol === 'h3' && network.udp === 'blocked') return 2000;
  const policed = protocol === 'h3' && typeof network.udp === 'object' ? network.udp.policedMbps : Infinity;
  const rateMbps = Math.min(network.downMbps, policed);
  const cold = (bytes * 8) / (rateMbps * 1000) + ROUND_TRIPS * network.rttMs;
  return OVERHEAD_MS + (view === 'warm' ? 2 : 1) * cold;
}
