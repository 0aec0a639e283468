/** `hopwise-host network`: checks what the network does to UDP, its round trip, loss and rate, once or again and again. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type MeasuredNetwork,
  MINUTE_MS,
  type Repetition,
  repeat,
  type TransferPlan,
} from '@hopwise/contract';
import { RequestError, UsageError } from '../src/base/errors.ts';
import type { Engine } from '../src/engine/engine.ts';
import { probe } from '../src/probe/probe.ts';
import { checkHead, checkLines, checkRow, type NetworkCheck, summariseChecks } from './network-table.ts';
import { EXIT_FAILURE, print, printJson } from './output.ts';
import { readRecording } from './recording-file.ts';
import { readUrls, userAgent } from './urls.ts';
import { withEngine } from './with-engine.ts';

interface NetworkCommandOptions {
  har?: string;
  every?: number;
  for?: number;
  libcurl?: string;
  json?: boolean;
}

const SINGLE: Repetition = { everyMs: MINUTE_MS, forMs: 0 };
/** In place of a size that is not known yet. */
const LEARN_LIMIT_BYTES = 2_000_000;

/** Exits with 1 when no check had a result. */
export async function networkCommand(urls: string[], options: NetworkCommandOptions): Promise<void> {
  if (urls.length > 0 === (options.har !== undefined))
    throw new UsageError('expected either URLs or --har <file>');
  const repetition = readRepetition(options);
  const whole = readUrls(urls);
  const planned = options.har === undefined ? null : await planOfRecording(options.har);
  await withEngine(options.libcurl, async (engine, signal) => {
    const checks: NetworkCheck[] = [];
    const plan = planned ?? (await planOfUrls(engine, whole, signal));
    if (repetition !== null && !options.json) print(checkHead());
    const run = async (): Promise<boolean> => {
      const check = await checkOnce(engine, plan, signal);
      checks.push(check);
      if (options.json) printJson(check);
      else print(repetition === null ? checkLines(check) : checkRow(check));
      return true;
    };
    await repeat(run, (untilMs) => waitUntil(untilMs, signal), repetition ?? SINGLE);
    if (checks.every(({ measured }) => measured === null)) process.exitCode = EXIT_FAILURE;
    if (repetition !== null && !options.json && checks.length > 0) print(summariseChecks(checks));
  });
}

/** Null for a single check. */
function readRepetition({ every, for: duration }: NetworkCommandOptions): Repetition | null {
  if (every === undefined && duration === undefined) return null;
  if (every === undefined || duration === undefined)
    throw new UsageError('--every and --for belong together: the minutes from check to check, and in all');
  if (duration < every) throw new UsageError(`--for: expected at least --every (${every}), got ${duration}`);
  return { everyMs: every * MINUTE_MS, forMs: duration * MINUTE_MS };
}

/** @returns whether it was not interrupted */
async function waitUntil(untilMs: number, signal: AbortSignal): Promise<boolean> {
  await sleep(untilMs - Date.now(), undefined, { signal }).catch((fault) => {
    if (!signal.aborted) throw fault;
  });
  return !signal.aborted;
}

/** A check that fails is one result among others: the network may be away for a while. */
async function checkOnce(engine: Engine, plan: TransferPlan, signal: AbortSignal): Promise<NetworkCheck> {
  const { MAX_CHECK_BYTES, measuredBy } = await import('@hopwise/pageload-emulator');
  const startMs = performance.now();
  const begun = { at: new Date().toISOString(), origin: new URL(plan.transfers[0]!.url).origin };
  try {
    const verification = await probe(engine, plan, {
      protocols: ['h2', 'h3'],
      rounds: 1,
      budgetBytes: 2 * MAX_CHECK_BYTES,
      signal,
    });
    const { udp, bytes } = verification;
    const measured: MeasuredNetwork = measuredBy(verification);
    return { ...begun, elapsedMs: performance.now() - startMs, bytes, measured, udp, problem: '' };
  } catch (fault) {
    if (!(fault instanceof RequestError) || fault.code === 'cancelled') throw fault;
    const elapsedMs = performance.now() - startMs;
    return { ...begun, elapsedMs, bytes: 0, measured: null, udp: null, problem: fault.message };
  }
}

async function planOfRecording(file: string): Promise<TransferPlan> {
  const { planNetworkCheck } = await import('@hopwise/pageload-emulator');
  const plan = planNetworkCheck(await readRecording(file), userAgent());
  if (plan !== null) return plan;
  throw new UsageError(
    `${file}: expected 230 kB of files from one server that offers HTTP/3; give their URLs`,
  );
}

/** Learns the sizes of the responses by requesting each once. */
async function planOfUrls(engine: Engine, urls: string[], signal: AbortSignal): Promise<TransferPlan> {
  const { MAX_CHECK_BYTES, planCheckOf } = await import('@hopwise/pageload-emulator');
  const origins = new Set(urls.map((url) => new URL(url).origin));
  if (origins.size > 1) throw new UsageError(`expected URLs of one server, got ${[...origins].join(', ')}`);
  const transfers = urls.map((url) => ({
    url,
    after: [],
    delayMs: 0,
    urgency: 3,
    incremental: false,
    accept: '*/*',
    bytes: 0,
  }));
  const { protocols } = await probe(
    engine,
    { pageUrl: urls[0]!, userAgent: userAgent(), transfers },
    { protocols: ['h2'], rounds: 1, budgetBytes: LEARN_LIMIT_BYTES, signal },
  );
  const answers = protocols.h2?.rounds[0]?.transfers ?? [];
  if (answers.length === 0) throw new RequestError('refused', protocols.h2?.unavailable || 'no answer');
  const responses = answers
    .filter(({ status, error }) => status === 200 && error === '')
    .map(({ index, bytes }) => ({ url: urls[index]!, bytes }));
  const plan = planCheckOf(responses, urls[0]!, userAgent());
  if (plan !== null) return plan;
  const found = answers
    .map(({ status, bytes, error }) => error || `${status} with ${Math.round(bytes / 1000)} kB`)
    .join(', ');
  throw new UsageError(
    `expected files of 10 kB or more that add up to ${MAX_CHECK_BYTES / 1000} kB at most, got ${found}`,
  );
}
