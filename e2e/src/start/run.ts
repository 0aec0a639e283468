import { access, constants, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { firstLine } from '@hopwise/contract';
import { writingProblem } from '@hopwise/contract/command-line';
import { counted } from '@hopwise/contract/terminal';
import { buildReport, type Findings, type Report } from '@hopwise/extension/report';
import { chromiumPath, requireDisplay } from '@hopwise/lab/browser/chromium';
import { siteInitScript } from '@hopwise/lab/browser/determinism';
import { readCa } from '@hopwise/lab/browser/local-ca';
import { Lab } from '@hopwise/lab/client/lab';
import { toNetworkPath } from '@hopwise/lab/client/networks';
import { frontPrograms } from '@hopwise/lab/client/server-stack';
import type { Cleanup } from '@hopwise/lab/command/cleanup';
import { UserError } from '@hopwise/lab/command/errors';
import { makeFolder } from '@hopwise/lab/command/output-folder';
import type { Progress } from '@hopwise/lab/command/progress';
import { replaceFile } from '@hopwise/lab/command/write-file';
import { type DisturbanceWatch, watchDisturbance } from '@hopwise/lab/loads/disturbance';
import { processorSpeed } from '@hopwise/lab/loads/processor-speed';
import { assignmentOfSite } from '@hopwise/lab/matrix/assignments';
import { openPage } from '@hopwise/lab/pages/page-source';
import type { Site } from '@hopwise/lab/sites/site';
import { predict } from '@hopwise/pageload-emulator';
import { renderReport } from '../report/html.ts';
import { decideAfter } from './decide-after.ts';
import { measurePage } from './measure-page.ts';
import { networkFrom } from './network.ts';
import { ExtensionSession, type SessionOptions } from './observe.ts';
import type { StartOptions } from './options.ts';
import { recordPage } from './record.ts';

interface RunContext {
  cleanup: Cleanup;
  progress: Progress;
  signal: AbortSignal;
}

/**
 * The main job: record, predict, verify, measure (in the lab), report.
 *
 * @returns the report, which is also written to `out/report.json` and `out/report.html`
 * @throws UserError with one line for what the user can fix
 */
export async function run(options: StartOptions, context: RunContext): Promise<Report> {
  if (options.headed) requireDisplay();
  await tryFolder(options.out);
  const findings =
    options.url === null ? await runInLab(options, context) : await runLive(options, options.url, context);
  const report = buildReport(findings);
  await writeReport(report, options.out, context);
  return report;
}

async function runInLab(options: StartOptions, context: RunContext): Promise<Findings> {
  const { cleanup, progress, signal } = context;
  const { network, asSet } = networkFrom(options);
  const page = await openPage(options.page, signal);
  progress.step(
    `lab: ${page.name}, ${page.site.resources.length} resources on ${page.site.origins.length} origins${options.server === 'go' ? '' : ' of nginx and quiche'}; link ${asSet.name}`,
  );
  const stack = options.server;
  if (stack === 'nginx-quiche') await setUpFronts(page.dir, context);
  const lab = await Lab.up({ site: page.dir, network, stack, signal }).catch((error) => {
    if (error instanceof UserError) throw error;
    throw new UserError(`${firstLine(error)}; without the lab: npm start -- https://example.org/`);
  });
  cleanup.add('the lab', () => lab.down());
  const hosts = lab.hosts;
  const ca = { file: lab.caFile, spki: lab.caSpki, hosts };
  const chromium = await lab.wrapper(chromiumPath());

  const seen = await observe(
    page.site.entry,
    { executablePath: chromium, ca, headed: options.headed },
    options,
    context,
    {
      site: page.site,
      watch: async () => {
        await lab.drain();
        await lab.configure(network);
        await lab.resetStats();
        return watchDisturbance({ lab, slowdown: () => processorSpeed.slowdown() });
      },
    },
  );

  const { action, best } = seen.prediction.decision;
  const assignment =
    action.kind === 'leave' ? null : assignmentOfSite({ assignment: action.assignment, best }, page.site);
  progress.step(
    `measuring: ${counted(options.loads, 'load')} in Chromium by the browser's own choice, under each forced protocol${assignment === null ? '' : ', and as hopwise recommends'}`,
  );
  const { measured, naturalProtocols, warnings } = await measurePage({
    lab,
    network,
    chromium,
    site: page.site,
    assignment,
    loads: options.loads,
    timeoutMs: options.timeoutMs,
    keepDisturbed: options.keepDisturbed,
    headed: options.headed,
    cleanup,
    onProgress: (text) => progress.detail(text),
    signal,
  });
  return {
    ...seen,
    mode: 'lab',
    pageName: page.name,
    networkAsSet: asSet,
    predictionGivenNetwork: predict(seen.recording, { network: toNetworkPath(network) }),
    measured,
    decision: decideAfter(seen, measured, assignment),
    naturalProtocols,
    warnings: [...seen.warnings, ...warnings],
    elapsedMs: progress.elapsedMs,
  };
}

/** The lab would set the servers up too, but without a word. */
async function setUpFronts(site: string, { progress, signal }: RunContext): Promise<void> {
  await frontPrograms(site, { log: (text) => progress.detail(text), signal }).catch((error) => {
    signal.throwIfAborted();
    throw new UserError(`--server nginx: ${firstLine(error)}`);
  });
}

async function runLive(options: StartOptions, url: string, context: RunContext): Promise<Findings> {
  const ca = options.ca === null ? null : { ...(await readCa(options.ca)), hosts: [new URL(url).host] };
  const session = { executablePath: chromiumPath(), ca, headed: options.headed };
  const seen = await observe(url, session, options, context);
  return {
    ...seen,
    mode: 'live',
    pageName: '',
    networkAsSet: null,
    predictionGivenNetwork: null,
    measured: null,
    decision: seen.prediction.decision,
    naturalProtocols: null,
    elapsedMs: context.progress.elapsedMs,
  };
}

/** Records, predicts and verifies with the extension and the native host, in a browser of its own. */
async function observe(
  url: string,
  sessionOptions: SessionOptions,
  options: StartOptions,
  { cleanup, progress, signal }: RunContext,
  replayed?: { site: Site; watch: () => Promise<DisturbanceWatch> },
): Promise<
  Pick<Findings, 'recording' | 'predictionFromRecording' | 'prediction' | 'verification' | 'warnings'>
> {
  progress.step(`recording: ${url} in Chromium with the extension`);
  const { session, load, warnings } = await recordPage(url, {
    open: async () => {
      const opened = await ExtensionSession.open(sessionOptions);
      cleanup.add('Chromium with the extension', () => opened.close());
      signal.throwIfAborted();
      return opened;
    },
    watch: replayed?.watch ?? null,
    timeoutMs: options.timeoutMs,
    keepDisturbed: options.keepDisturbed,
    ...(replayed && siteInitScript(replayed.site)),
    onRepeat: (reasons) => progress.step(`recording again, as the load was disturbed: ${reasons.join(', ')}`),
  });
  if (!load.prediction) throw new UserError(`the load of ${url} gives no prediction: ${load.problem}`);
  progress.step(
    `verifying: libcurl transfers the page under each protocol and as decided, ${counted(options.rounds, 'round')}`,
  );
  const verified = await session.verify(load, {
    rounds: options.rounds,
    onProgress: (text) => progress.detail(text),
    signal,
  });
  // Its timers and connections would be on the link while loads are measured.
  await session.close();
  const stopped = verified.verification?.stopped;
  return {
    recording: verified.recording,
    predictionFromRecording: load.prediction,
    prediction: verified.verifiedPrediction ?? load.prediction,
    verification: verified.verification,
    warnings: [...warnings, ...(stopped ? [`the verification ended early: ${stopped}`] : [])],
  };
}

/** Finds out before minutes of measuring whether the report can be written. Leaves no folder behind. */
async function tryFolder(out: string): Promise<void> {
  const made = await inFolder(out, async (dir, first) => {
    await access(dir, constants.W_OK);
    return first;
  });
  if (made) await rm(made, { recursive: true });
}

async function writeReport(report: Report, out: string, { progress }: RunContext): Promise<void> {
  await inFolder(out, async (dir) => {
    await replaceFile(join(dir, 'report.json'), `${JSON.stringify(report, null, 1)}\n`);
    await replaceFile(join(dir, 'report.html'), await renderReport(report));
  });
  progress.step(`report: ${join(out, 'report.html')}`);
}

/**
 * @param work is given the folder, and the first folder that had to be created for it
 * @throws UserError
 */
async function inFolder<T>(
  out: string,
  work: (dir: string, made: string | undefined) => Promise<T>,
): Promise<T> {
  const dir = resolve(out);
  try {
    return await work(dir, await makeFolder(dir));
  } catch (error) {
    throw new UserError(
      `--out ${out}: expected a folder that the report can be written to, ${writingProblem(error)}`,
      2,
    );
  }
}
