/**
 * How long a pin takes on an open page of real Chromium, with the real helper: from the person's word until a request that the page makes
 * then goes another way, which each round checks in the origin's own log. `npm run bench -- pin`.
 */
import { availableParallelism, loadavg } from 'node:os';
import { median } from '@hopwise/contract';
import { integer } from '@hopwise/lab/command/option-types';
import type { PinRequest } from '../../../extension/src/pins/pin-messages.ts';
import { TestHost } from '../../../extension/test/pins/host.ts';
import { HOST } from '../../../extension/test/pins/pinned-host.ts';
import { launchToPin } from '../../../extension/test/pins/pinning-chromium.ts';
import { ServerProgram } from '../../../native-host/test/support/server.ts';
import { benchCommand, parseOrExit } from '../bench-command.ts';
import { type RoundFigures, rounds, spread, verdict } from './rounds.ts';

/** Pinned all the time where the helper is to run already. */
const OTHER = 'https://b.lab.test';
/** VTL, which replaces the transport under an application, needs 183 ms. */
const TARGET_MS = 50;
const PATIENCE_MS = 20_000;
const LOOK_MS = 50;

const command = benchCommand(
  'pin',
  'Measures how long a pin takes to change the protocol of a page that is open in Chromium, with the real helper.',
)
  .option('--rounds <n>', 'how often each is measured', integer(1, 1_000), 12)
  .option('--json', 'print the times as JSON and nothing else', false);
const { rounds: count, json } = parseOrExit(command).opts<{ rounds: number; json: boolean }>();

const program = new ServerProgram();
const server = await program.start();
const host = new TestHost();
const { browser, own, page } = await launchToPin(server.port, host);
const origin = `https://${HOST}:${server.port}`;
let serial = 0;

try {
  host.register(browser.profile);
  await page.goto(server.url('/status/200', HOST));
  await until(async () => (await request()).proto === 'HTTP/3.0');
  const next: number[] = [];
  const figures = await rounds(
    [
      { name: 'the helper runs', running: true },
      { name: 'the helper starts', running: false },
    ],
    count,
    async ({ running }) => {
      if (running) {
        await ask(pinOf(OTHER));
        await rest();
      } else await endHelper();
      const ms = await ask(pinOf(origin));
      const { proto, tookMs } = await request();
      if (proto !== 'HTTP/2.0') throw new Error(`pinned off HTTP/3, the next request went over ${proto}`);
      next.push(tookMs);
      for (const each of [origin, OTHER]) await ask({ type: 'unpin', origins: [each] });
      await until(async () => (await request()).proto === 'HTTP/3.0');
      return ms;
    },
  );
  if (json) {
    const [running, starting] = figures.values();
    console.log(JSON.stringify({ running, starting }));
  } else report(figures, next);
} finally {
  await browser.close();
  await until(async () => host.running().length === 0);
  host.remove();
  await server.stop();
  program.remove();
}

function report(figures: RoundFigures, next: readonly number[]): void {
  console.log(
    `a pin to avoid-h3 on an open page of Chromium ${browser.context.browser()?.version() ?? ''}: ms until the next request goes over HTTP/2, median (10th to 90th percentile) of ${count}`,
  );
  for (const [name, each] of figures) {
    console.log(`    ${name.padEnd(20)}${spread(each, 1)}`);
    if (name === 'the helper runs') verdict(median(each) <= TARGET_MS, `${TARGET_MS} ms`);
  }
  console.log(`    that request, with its new connection: ${spread(next, 1)}`);
  console.log(`\n${availableParallelism()} processors, load ${loadavg()[0]!.toFixed(1)} in the last minute`);
}

/** Without pins it is not needed, and the next pin starts it again. */
async function endHelper(): Promise<void> {
  for (const pid of host.running()) process.kill(pid, 'SIGTERM');
  await until(async () => host.running().length === 0);
  // The browser sees its end a moment later.
  await rest();
}

function pinOf(which: string): PinRequest {
  const pins = [{ origin: which, kind: 'avoid-h3' as const, allowLocal: true }];
  return { type: 'pin', pins, minutes: 60, persistent: false };
}

/** @returns milliseconds until the answer, on the clock of the extension's own page. */
async function ask(message: PinRequest): Promise<number> {
  const { answer, ms } = await own.evaluate(async (message) => {
    const startMs = performance.now();
    const answer: { ok: boolean; error?: string } = await chrome.runtime.sendMessage(message);
    return { answer, ms: performance.now() - startMs };
  }, message);
  if (!answer.ok) throw new Error(`${message.type}: ${answer.error}`);
  return ms;
}

/** The open page asks for something: the protocol that it arrived under at the origin. */
async function request(): Promise<{ proto: string; tookMs: number }> {
  const path = `/bytes/1000/${++serial}`;
  const tookMs = await page.evaluate(async (url) => {
    const startMs = performance.now();
    await (await fetch(url, { cache: 'no-store' })).arrayBuffer();
    return performance.now() - startMs;
  }, path);
  const seen = await server.seen(1);
  return { proto: seen.find((one) => one.path === path)?.proto ?? 'nothing', tookMs };
}

/** Waits as long as a person does between two clicks, or less. */
function rest(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10 * LOOK_MS));
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`not within ${PATIENCE_MS / 1000} s: ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
