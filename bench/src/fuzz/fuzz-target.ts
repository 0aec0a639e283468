import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { writeFinding } from './corpus.ts';
import { type Order, SharedInput, type WorkerReport } from './shared-input.ts';

interface FuzzOptions {
  target: string;
  seed: number;
  /** Whichever ends first. */
  seconds: number;
  executions: number;
  /** Folders of the corpora and of the findings, each with a folder for a target. */
  corpus: string;
  findings: string;
  signal: AbortSignal;
}

export interface FuzzResult {
  target: string;
  executions: number;
  seconds: number;
  /** Inputs that together run all code that was reached, and how many of them are new. */
  corpus: number;
  added: number;
  blocks: number;
  /** The first line of each finding, and the file of its input. */
  findings: { why: string; file: string }[];
}

/** Processor time of its thread; an input that takes longer hangs: all take milliseconds. On a busy machine the first one takes as long by the clock. */
const EXECUTION_LIMIT_MS = 10_000;
/** Time by the clock, of an input for which something is waited that does not come. */
const WAIT_LIMIT_MS = 120_000;
const LOOK_EVERY_MS = 500;
/** Inputs are small: what needs more than this takes memory out of proportion. */
const HEAP_MB = 512;

/** Fuzzes one target in a thread of its own, which an input that hangs or takes too much memory ends. */
export async function fuzzTarget(options: FuzzOptions): Promise<FuzzResult> {
  const { target, signal } = options;
  const startedAt = performance.now();
  const result: FuzzResult = {
    target,
    executions: 0,
    seconds: 0,
    corpus: 0,
    added: 0,
    blocks: 0,
    findings: [],
  };
  const onFinding = (input: Uint8Array, why: string): void => {
    const file = writeFinding(join(options.findings, target), input, why);
    result.findings.push({ why: why.split('\n', 1)[0]!, file });
  };
  const elapsed = (): number => (performance.now() - startedAt) / 1000;
  for (let seed = options.seed, isOver = false; !isOver && !signal.aborted; seed += 1) {
    const shared = SharedInput.allocate();
    const order: Order = {
      target,
      corpus: options.corpus,
      seed,
      seconds: options.seconds - elapsed(),
      executions: options.executions - result.executions,
      shared,
    };
    const end = await runThread(order, onFinding, signal);
    isOver = end !== null || elapsed() >= options.seconds || result.findings.length > 20;
    if (end)
      Object.assign(result, { corpus: end.corpus, blocks: end.blocks, added: result.added + end.added });
    result.executions += end?.executions ?? new SharedInput(shared).begun;
  }
  return { ...result, seconds: elapsed() };
}

type End = Extract<WorkerReport, { type: 'end' }>;

/** @returns null when an input ended the thread. */
function runThread(
  order: Order,
  onFinding: (input: Uint8Array, why: string) => void,
  signal: AbortSignal,
): Promise<End | null> {
  const shared = new SharedInput(order.shared);
  const worker = new Worker(new URL('./fuzz-worker.ts', import.meta.url), {
    workerData: order,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    // The sources, not what was built of them.
    execArgv: ['--conditions=source'],
  });
  const stop = (): void => shared.stop();
  signal.addEventListener('abort', stop);
  let last: number | null = null;
  /** Processor time of the thread at the last look, milliseconds. */
  let usedMs = 0;
  let since = { atMs: performance.now(), usedMs };
  const timer = setInterval(() => {
    const { running } = shared;
    if (running === null || running !== last) {
      last = running;
      since = { atMs: performance.now(), usedMs };
    } else {
      const isHung = usedMs - since.usedMs > EXECUTION_LIMIT_MS;
      if (isHung || performance.now() - since.atMs > WAIT_LIMIT_MS) {
        const limit = isHung ? `${EXECUTION_LIMIT_MS} ms of processor time` : `${WAIT_LIMIT_MS} ms`;
        onFinding(shared.input, `hang: no end within ${limit}`);
        void worker.terminate();
      }
    }
    worker.cpuUsage().then(
      ({ user, system }) => {
        usedMs = (user + system) / 1000;
      },
      // The thread has ended, which is reported by itself.
      () => {},
    );
  }, LOOK_EVERY_MS);
  return new Promise<End | null>((resolve) => {
    let end: End | null = null;
    worker
      .on('message', (message: WorkerReport) => {
        if (message.type === 'finding') onFinding(message.input, message.why);
        else end = message;
      })
      .on('error', (fault) => onFinding(shared.input, (fault as Error).stack ?? String(fault)))
      .on('exit', () => resolve(end));
  }).finally(() => {
    clearInterval(timer);
    signal.removeEventListener('abort', stop);
  });
}
