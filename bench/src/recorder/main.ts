/**
 * What recording costs a page in real Chromium: load time, processor time and memory with the extension and without, or with another
 * build of it, by turns in one run. `npm run bench -- recorder`.
 *
 * The servers are on this machine and answer at once, so the load time is processor time: on a real network the share is smaller.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join, resolve as resolvePath } from 'node:path';
import { integer } from '@hopwise/lab/command/option-types';
import { InvalidArgumentError, Option } from 'commander';
import type { BrowserContext } from 'playwright-core';
import {
  type ExtensionBrowser,
  findBrowserProcess,
  launch,
  launchChromium,
  loadExtension,
} from '../../../extension/test/support/browser.ts';
import { measureWorkerHeap } from '../../../extension/test/support/worker-heap.ts';
import { benchCommand, parseOrExit } from '../bench-command.ts';
import { fillStores, stopWorker } from './cold-worker.ts';
import { comparePairs } from './compare-pairs.ts';
import { readProcessorTimes, subtractTimes, sumKinds } from './processor-time.ts';
import { SMALL_EXTENSIONS, type SmallExtension, writeSmallExtension } from './small-extension.ts';

const EXTENSION = join(import.meta.dirname, '../../../extension/dist/chromium');
/** One of so many requests is a script. */
const SCRIPT_EVERY = 12;
/** The recording is complete by then: it is taken a second after the load event. */
const SETTLE_MS = 2500;
const WARM_UP = 3;
const MB = 1e6;
/** `pltShare` is that of light recordings; of detailed ones a tenth of the load time. */
const TARGETS = { pltShare: 0.01, detailedPltShare: 0.1, mainThreadMs: 10, memoryMb: 20 };

interface Browser {
  context: BrowserContext;
  /** Its first process. */
  pid: number;
  /** Null for the browser alone. */
  extension: ExtensionBrowser | null;
  close(): Promise<void>;
}

/** One load. */
interface Load {
  pltMs: number;
  /** Time of the page's main thread, from the navigation until the recording has been taken. */
  mainThreadMs: number;
  /** Time of all processes of the browser in the same period. */
  processorMs: number;
  /** That of the extension's worker alone. */
  extensionMs: number;
  /** JavaScript objects of the page and of content scripts in it, after a garbage collection. */
  heapBytes: number;
}

const command = benchCommand(
  'recorder',
  'Measures what recording costs a page in Chromium, with the extension and without by turns: load time, processor time, memory.',
)
  .option('--rounds <n>', 'loads of each', integer(2, 10_000), 30)
  .option('--requests <n>', 'requests of the page', integer(2, 5_000), 500)
  .option(
    '--detailed',
    'every load is recorded in detail, and not only those that leave a question open',
    false,
  )
  .option(
    '--cold',
    'each load wakes the worker, as people’s navigations do, and the stores are as full as they get',
    false,
  )
  .option(
    '--against <dir>',
    'compare with another build of the extension, not with the browser alone',
    builtExtension,
  )
  .addOption(
    new Option('--beside <kind>', 'compare with an extension that does nothing, not with the browser alone')
      .choices(SMALL_EXTENSIONS)
      .conflicts('against'),
  )
  .option('--json', 'print the measurements as JSON and nothing else', false);
function builtExtension(dir: string): string {
  if (existsSync(join(dir, 'manifest.json'))) return dir;
  throw new InvalidArgumentError('expected the folder of a built extension');
}

const { rounds, requests, json, detailed, cold, against, beside } = parseOrExit(command).opts<{
  rounds: number;
  requests: number;
  json: boolean;
  detailed: boolean;
  cold: boolean;
  against?: string;
  beside?: SmallExtension;
}>();

const server = createServer((request, response) => {
  const path = request.url ?? '/';
  response.setHeader('cache-control', 'no-store');
  if (path.startsWith('/page')) response.setHeader('content-type', 'text/html').end(pageOf(path));
  else if (path.endsWith('.js')) response.setHeader('content-type', 'text/javascript').end('void 0');
  else response.setHeader('content-type', 'image/svg+xml').end('<svg xmlns="http://www.w3.org/2000/svg"/>');
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const open: Browser[] = [];

try {
  const browsers = {
    without: await openFirst(),
    with: await openExtension(EXTENSION),
  };
  const loads: Record<'with' | 'without', Load[]> = { with: [], without: [] };
  const heaps: number[] = [];
  for (let round = -WARM_UP; round < rounds; round++) {
    // By turns, and by turns first: what else the machine does meets both.
    const order = round % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const);
    for (const name of order) {
      const load = await measureLoad(browsers[name], round);
      if (round >= 0) loads[name].push(load);
    }
    if (round >= 0) heaps.push(await measureWorkerHeap(browsers.with.context));
    if (process.stderr.isTTY) process.stderr.write(`\r${round + WARM_UP + 1} of ${rounds + WARM_UP} rounds`);
  }
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  if (json) console.log(JSON.stringify({ loads, workerHeapBytes: heaps }));
  else report(loads, heaps, browsers.with.context.browser()?.version() ?? '');
} finally {
  for (const browser of open) await browser.close();
  server.close();
}

/** Opens the browser that hopwise's is compared with. */
function openFirst(): Promise<Browser> {
  return against === undefined ? openOther(beside) : openExtension(resolvePath(against));
}

/** Says what is in that browser. */
function describeFirst(): string {
  if (against !== undefined) return `with ${against}`;
  return beside === undefined ? 'without the extension' : `with an extension that does nothing (${beside})`;
}

/** Opens a browser without hopwise. @param kind of the small extension in it; undefined for none */
async function openOther(kind: SmallExtension | undefined): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'hopwise-bench-'));
  const dir = join(profile, 'extension');
  if (kind !== undefined) await writeSmallExtension(kind, dir, EXTENSION);
  const context = await launchChromium(profile, kind === undefined ? [] : loadExtension(dir));
  const close = async () => {
    await context.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  const browser = { context, pid: findBrowserProcess(profile), extension: null, close };
  open.push(browser);
  return browser;
}

async function openExtension(dir: string): Promise<Browser> {
  const extension = await launch(dir, [], [], {}, 'en-US', detailed);
  const { context, profile } = extension;
  const pid = findBrowserProcess(profile);
  const browser = { context, pid, extension, close: () => extension.close() };
  open.push(browser);
  if (cold) {
    const page = await context.newPage();
    await page.goto(`${url}/page-first`);
    await fillStores(extension, page.url());
    await page.close();
  }
  return browser;
}

function pageOf(path: string): string {
  const number = path.replace(/\D/g, '');
  const scriptCount = Math.floor(requests / SCRIPT_EVERY);
  const scripts = Array.from({ length: scriptCount }, (_, i) => `<script src="/${number}-${i}.js"></script>`);
  const images = Array.from(
    { length: requests - scriptCount - 1 },
    (_, i) => `<img width="8" height="8" src="/${number}-${i}.svg">`,
  );
  return `<!doctype html><title>${requests} requests</title>${scripts.join('')}${images.join('')}`;
}

async function measureLoad({ context, pid, extension }: Browser, round: number): Promise<Load> {
  const page = await context.newPage();
  try {
    if (cold && extension) await stopWorker(extension, page, pid);
    const session = await context.newCDPSession(page);
    await session.send('Performance.enable');
    const readMetric = async (name: string) => {
      const { metrics } = await session.send('Performance.getMetrics');
      return metrics.find((metric) => metric.name === name)!.value;
    };
    const before = readProcessorTimes(pid);
    await page.goto(`${url}/page${round + WARM_UP}`);
    const pltMs = await page.evaluate(async (settleMs) => {
      await new Promise((resolve) => setTimeout(resolve, settleMs));
      const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
      return entry!.loadEventEnd;
    }, SETTLE_MS);
    const used = subtractTimes(readProcessorTimes(pid), before);
    const mainThreadMs = 1000 * (await readMetric('TaskDuration'));
    await session.send('HeapProfiler.collectGarbage');
    const heapBytes = await readMetric('JSHeapUsedSize');
    return { pltMs, mainThreadMs, processorMs: sumKinds(used), extensionMs: used.extension, heapBytes };
  } finally {
    await page.close();
  }
}

interface Row {
  name: string;
  of(load: Load): number;
  unit: 'ms' | 'MB';
  /** Largest difference; null where there is no target. */
  target: number | null;
}

function report(
  loads: Record<'with' | 'without', readonly Load[]>,
  heaps: readonly number[],
  version: string,
): void {
  const compare = (of: Row['of']) => comparePairs(loads.with.map(of), loads.without.map(of));
  const pltMs = compare((load) => load.pltMs).without;
  const rows: Row[] = [
    {
      name: 'load time',
      of: (load) => load.pltMs,
      unit: 'ms',
      target: (detailed ? TARGETS.detailedPltShare : TARGETS.pltShare) * pltMs,
    },
    { name: 'main thread', of: (load) => load.mainThreadMs, unit: 'ms', target: TARGETS.mainThreadMs },
    { name: 'all processes', of: (load) => load.processorMs, unit: 'ms', target: null },
    { name: 'worker’s process', of: (load) => load.extensionMs, unit: 'ms', target: null },
    { name: 'memory in the page', of: (load) => load.heapBytes / MB, unit: 'MB', target: TARGETS.memoryMb },
  ];
  const how = [
    detailed ? ', recording in detail' : '',
    cold ? ', with a worker that each load wakes' : '',
  ].join('');
  console.log(
    `${requests} requests in Chromium ${version}, ${rounds} loads ${describeFirst()} and ${rounds} with it${how}, by turns: medians, and the pairs' median difference with its 95% interval\n`,
  );
  for (const { name, of, unit, target } of rows) {
    const { without: before, with: after, difference, low, high } = compare(of);
    const write = (value: number) => value.toFixed(unit === 'ms' ? 0 : 2);
    const judged =
      target === null ? '' : `, target ${write(target)}: ${difference <= target ? 'reached' : 'missed'}`;
    console.log(
      `  ${name.padEnd(20)}${write(before)} → ${write(after)} ${unit}, ${write(difference)} (${write(low)} to ${write(high)}) more${judged}`,
    );
  }
  console.log(`  ${'memory in the worker'.padEnd(20)} at most ${(Math.max(...heaps) / MB).toFixed(1)} MB`);
  console.log(`\n${availableParallelism()} processors, load ${loadavg()[0]!.toFixed(1)} in the last minute`);
}
