/** The thread in which one target runs: its inputs may hang it or exhaust its memory, which `fuzzTarget` then sees from outside. */
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { BlockCoverage } from './block-coverage.ts';
import { CorpusFolder } from './corpus.ts';
import { InputQueue } from './input-queue.ts';
import { type Order, SharedInput, type WorkerReport } from './shared-input.ts';
import { shrink } from './shrink.ts';
import type { OpenTarget } from './target.ts';
import { TARGETS } from './targets.ts';

/** Executions between two looks at the coverage, which take about as long as this many executions of a fast parser. */
const BATCH = 16;
/** Above what any input is allowed to take. */
const EXTERNAL_BYTES = 256 * 1024 * 1024;

const order = workerData as Order;
const target = TARGETS[order.target]!;
const shared = new SharedInput(order.shared);
const corpusFolder = new CorpusFolder(join(order.corpus, order.target));
const corpus: Uint8Array[] = [];
const coverage = new BlockCoverage();
const found = new Set<string>();
let executions = 0;
let added = 0;

const report = (message: WorkerReport): void => parentPort!.postMessage(message);
const open = await target.open();
try {
  await readCorpus(open);
  await fuzz(open);
} finally {
  await open.close?.();
  coverage.close();
}
report({ type: 'end', executions, corpus: corpus.length, added, blocks: coverage.blocks });

async function readCorpus(running: OpenTarget): Promise<void> {
  coverage.add(coverage.take());
  const seeds = target.seeds();
  for (const [index, input] of [...seeds, ...corpusFolder.read()].entries()) {
    await execute(running, input);
    // Valid inputs stay even when others run the same code.
    if (coverage.add(coverage.take()) || index < seeds.length) corpus.push(input);
  }
}

async function fuzz(running: OpenTarget): Promise<void> {
  const inputs = new InputQueue(target, corpus, order.seed);
  const endAt = performance.now() + order.seconds * 1000;
  const fitsBudget = (): boolean =>
    executions < order.executions && performance.now() < endAt && !shared.isStopped;
  while (fitsBudget()) {
    const batch: Uint8Array[] = [];
    while (batch.length < BATCH && fitsBudget()) {
      const input = inputs.next();
      batch.push(input);
      await execute(running, input);
    }
    if (coverage.hasNew(coverage.take())) await keepWhatIsNew(running, batch);
    checkAround();
  }
}

/** Which of a batch's inputs ran new code shows only when each runs on its own. */
async function keepWhatIsNew(running: OpenTarget, batch: readonly Uint8Array[]): Promise<void> {
  for (const input of batch) {
    await execute(running, input);
    if (!coverage.add(coverage.take())) continue;
    corpus.push(input);
    corpusFolder.add(input);
    added += 1;
  }
}

async function execute(running: OpenTarget, input: Uint8Array): Promise<void> {
  executions += 1;
  const fault = await faultOf(running, input);
  if (fault === null || found.has(signature(fault))) return;
  found.add(signature(fault));
  const same = async (smaller: Uint8Array): Promise<boolean> => {
    const other = await faultOf(running, smaller);
    return other !== null && signature(other) === signature(fault);
  };
  const smallest = await shrink(input, same);
  report({ type: 'finding', input: smallest, why: fault.stack ?? fault.message });
}

async function faultOf(running: OpenTarget, input: Uint8Array): Promise<Error | null> {
  shared.begin(input);
  try {
    await running.run(input);
    return null;
  } catch (fault) {
    return fault instanceof Error ? fault : new Error(String(fault));
  } finally {
    shared.end();
  }
}

/** Faults of one place count once: the error's class, and the first place in the stack outside of libraries. */
function signature({ name, message, stack = '' }: Error): string {
  const frame = stack
    .split('\n')
    .find((line) => /^\s+at /.test(line) && !/node:|node_modules|fuzz\/target\.ts/.test(line));
  return name === 'BrokenProperty' ? `${message} ${frame}` : `${name} ${frame ?? message}`;
}

function checkAround(): void {
  for (const prototype of [Object.prototype, Array.prototype, Function.prototype]) {
    for (const key in prototype) throw new Error(`prototype pollution: ${key}`);
  }
  const { external } = process.memoryUsage();
  if (external > EXTERNAL_BYTES) throw new Error(`${external} bytes of buffers`);
}
