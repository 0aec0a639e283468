/** `hopwise-host probe`: reads the plan, runs the probe, prints the results. */
import {
  type PlannedAssignment,
  PROTOCOL_NAME,
  PROTOCOLS,
  type Protocol,
  type TransferPlan,
  transferPlanSchema,
  type Verification,
} from '@hopwise/contract';
import { UsageError } from '../src/base/errors.ts';
import { probe } from '../src/probe/probe.ts';
import { EXIT_FAILURE, note, print, printJson } from './output.ts';
import { probeTable } from './probe-table.ts';
import { readRecording } from './recording-file.ts';
import { readUrls, userAgent } from './urls.ts';
import { withEngine } from './with-engine.ts';

interface ProbeCommandOptions {
  har?: string;
  protocols: string;
  rounds: number;
  budget?: number;
  resources?: boolean;
  libcurl?: string;
  json?: boolean;
}

/** Exits with 1 when no protocol carried the page. */
export async function probeCommand(urls: string[], options: ProbeCommandOptions): Promise<void> {
  const protocols = readProtocols(options.protocols);
  const { plan, assignments } = await readInput(urls, options.har, protocols);
  const live = process.stderr.isTTY && !options.json;
  await withEngine(options.libcurl, async (engine, signal) => {
    const verification = await probe(engine, plan, {
      protocols,
      assignments,
      rounds: options.rounds,
      budgetBytes: options.budget ?? null,
      signal,
      onProgress: live
        ? ({ doneTransfers, allTransfers, protocol, round }) =>
            process.stderr.write(
              `\r${doneTransfers} of ${allTransfers} transfers, ${protocol ? PROTOCOL_NAME[protocol] : 'by assignment'}, round ${round + 1}\x1b[K`,
            )
        : undefined,
    });
    if (live) process.stderr.write('\r\x1b[K');
    const obstacle = whyUnreachable(verification);
    if (options.json) printJson(verification);
    else if (obstacle) note(obstacle);
    else print(probeTable(verification, plan, { resources: options.resources === true }));
    if (Object.values(verification.protocols).every(({ medianMs }) => medianMs === null))
      process.exitCode = EXIT_FAILURE;
  });
}

/** Why no origin of the page can be reached; '' when one can. */
function whyUnreachable({ origins, protocols }: Verification): string {
  if (origins.some(({ unreachable }) => unreachable === '')) return '';
  return Object.values(protocols)[0]?.unavailable ?? '';
}

function readProtocols(list: string): Protocol[] {
  const names = list.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !PROTOCOLS.includes(name as Protocol));
  if (unknown !== undefined) throw new UsageError(`--protocols: expected some of h1,h2,h3, got "${unknown}"`);
  return names as Protocol[];
}

interface ProbeInput {
  plan: TransferPlan;
  /** What the decision on a recording recommends, and what the browser does by itself. */
  assignments: PlannedAssignment[];
}

/** @param protocols those that assignments may use */
async function readInput(
  urls: string[],
  har: string | undefined,
  protocols: readonly Protocol[],
): Promise<ProbeInput> {
  if (urls.length > 0 === (har !== undefined)) throw new UsageError('expected either URLs or --har <file>');
  const { plan, assignments } =
    har === undefined ? { plan: planOfUrls(urls), assignments: [] } : await planOfRecording(har);
  const parsed = transferPlanSchema.safeParse(plan);
  if (parsed.success) {
    const possible = assignments.filter(({ assignment }) =>
      Object.values(assignment).every((protocol) => protocols.includes(protocol)),
    );
    return { plan: parsed.data, assignments: possible };
  }
  const [issue] = parsed.error.issues;
  throw new UsageError(
    `${har ?? 'URLs'}: ${issue?.path.join('.')}: ${issue?.message} (every URL must be https)`,
  );
}

function planOfUrls(urls: string[]): TransferPlan {
  const whole = readUrls(urls);
  return {
    pageUrl: whole[0]!,
    userAgent: userAgent(),
    transfers: whole.map((url, index) => ({
      url,
      after: index === 0 ? [] : [0],
      delayMs: 0,
      urgency: index === 0 ? 0 : 3,
      incremental: false,
      accept: '*/*',
      bytes: 0,
    })),
  };
}

async function planOfRecording(file: string): Promise<ProbeInput> {
  const { assignmentsToVerify, buildGraph, predict, transferPlan } = await import(
    '@hopwise/pageload-emulator'
  );
  const recording = await readRecording(file);
  const plan = transferPlan(buildGraph(recording), recording, userAgent());
  if (plan) return { plan, assignments: assignmentsToVerify(predict(recording).decision) };
  throw new UsageError(`${file}: expected at least one https GET that can be transferred`);
}
