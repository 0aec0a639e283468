/** Runs cases, some batches at a time. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { privateLibcurl } from '../support/private-libcurl.ts';
import { bundle } from '../support/server.ts';
import { type BatchPlan, planBatch } from './plan.ts';
import { type BatchOutcome, runBatch } from './run-batch.ts';
import { Servers } from './servers.ts';

/** What two processors can take. */
const BATCHES_AT_A_TIME = 3;

export interface RunOptions {
  seed: number;
  cases: number;
  /** Only this batch. */
  batch?: number;
  /** Only this case of it. */
  only?: number;
  /** Called after each batch. */
  onBatch?: (plan: BatchPlan, outcome: BatchOutcome, done: number) => void;
  signal?: AbortSignal;
}

export interface Outcome {
  /** That were run. */
  cases: number;
  wrong: string[];
}

export async function runFaults({ seed, cases, batch, only, onBatch, signal }: RunOptions): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'hopwise-faults-'));
  const servers = await Servers.start();
  const caFile = join(folder, 'origins.pem');
  writeFileSync(caFile, bundle(servers.trusted));
  const tools = { servers, caFile, libcurl: await privateLibcurl() };
  const plans = batch === undefined ? plansFor(seed, cases) : [planBatch(seed, batch)];
  if (only !== undefined) plans[0]!.cases = plans[0]!.cases.slice(only, only + 1);
  const outcome: Outcome = { cases: 0, wrong: [] };
  const work = async (): Promise<void> => {
    for (let plan = plans.shift(); plan && !signal?.aborted; plan = plans.shift()) {
      const batch = await runBatch(plan, tools);
      outcome.cases += plan.cases.length;
      outcome.wrong.push(...batch.wrong);
      onBatch?.(plan, batch, outcome.cases);
    }
  };
  try {
    await Promise.all(Array.from({ length: BATCHES_AT_A_TIME }, work));
  } finally {
    await servers.stop();
    rmSync(folder, { recursive: true });
  }
  return outcome;
}

function plansFor(seed: number, cases: number): BatchPlan[] {
  const plans: BatchPlan[] = [];
  for (let left = cases, index = 0; left > 0; index += 1) {
    const plan = planBatch(seed, index);
    plan.cases.splice(left);
    left -= plan.cases.length;
    plans.push(plan);
  }
  return plans;
}
