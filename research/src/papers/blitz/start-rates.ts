/** Flows of the slides on Blitz start, measured in the lab. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EndlessTransfer, makeTransfers } from '@hopwise/bench/flows/transfers';
import { median } from '@hopwise/contract';
import { Lab, labObstacle, type SiteServerChange } from '@hopwise/lab/client/lab';
import { frontPrograms } from '@hopwise/lab/client/server-stack';
import { UserError } from '@hopwise/lab/command/errors';
import type { ProgramContext } from '@hopwise/lab/command/program';
import { makeScratch, removeScratch } from '@hopwise/lab/command/scratch';
import type { Site } from '@hopwise/lab/sites/site';
import { writeSite } from '@hopwise/lab/sites/write-site';
import type { ClaimOptions } from '../claim.ts';
import { emulateStart } from './emulate-start.ts';
import { KeptStarts, type StartedFlow } from './kept-starts.ts';
import type { StartTimes } from './start-gains.ts';
import {
  ANNOUNCING_BYTES,
  BEGINS_MS,
  FLOW,
  LINKS,
  type Link,
  LONG_BYTES,
  networkOf,
  OTHER,
  OTHER_BYTES,
  PACED,
  SENDERS,
  SHORT_BYTES,
  SLOW_START_WINDOW,
  STARTS,
  type Start,
  type StartSender,
} from './starts.ts';

/** Bytes; half of it is above the largest window that a server starts with. The kernel's default of 128 kB would limit the others. */
const RECEIVE_BUFFER = 4_000_000;

const OTHER_TIMES = 200;
/** Several times what a flow takes that the other one lets starve. */
const TIMEOUT_MS = 120_000;

/**
 * Flows beside one that already uses the link, by the rate that the server starts at.
 *
 * The client announces its rate (`Start-Rate`) on a connection before; the server begins the flow's with a window of rate × round trip, paced
 * at the rate, until a loss or for three round trips. Neither the kernel nor quiche can begin in congestion avoidance, as the slides' QUIC
 * does: slow start goes on then.
 *
 * @param out folder for rounds, from which a later run continues
 * @returns why this machine cannot measure them, or the flows by link and start
 */
export async function measureStarts(
  sender: StartSender,
  { seed, out }: Pick<ClaimOptions, 'seed' | 'out'>,
  context: ProgramContext,
): Promise<string | StartTimes[]> {
  const { cleanup, say } = context;
  const scratch = await makeScratch('run');
  cleanup.add('the site of the flows', () => removeScratch(scratch));
  const site = join(scratch, 'site');
  await writeSite({ site: startSite(sender), files: new Map() }, site);
  const obstacle = (await labObstacle()) ?? (await missingPrograms(sender, site));
  if (obstacle !== null) return obstacle;
  const all = await Promise.all(
    LINKS.map((link) => KeptStarts.open({ dir: join(out, 'blitz'), sender, link: link.name, seed })),
  );
  // At once, as flows of these rates leave two processors idle most of the time; how late packets were is recorded.
  await Promise.all(LINKS.map((link, index) => measureLink(site, sender, link, all[index]!, seed, context)));
  const times = LINKS.flatMap((link, index) => timesOf(link, sender, all[index]!));
  for (const { link, start, flows, emulatedMs } of times) {
    const of = (key: keyof StartedFlow) => flows.map((flow) => flow[key]);
    say(
      `${link}, ${start.bytes / 1000} kB, ${nameOf(start)}: ${Math.round(median(of('timeMs')))} ms, ${median(of('drops'))} drops, packets up to ${Math.max(...of('latenessMs')).toFixed(1)} ms late; emulated ${Math.round(emulatedMs)} ms`,
    );
  }
  return times;
}

const timesOf = (link: Link, sender: StartSender, kept: KeptStarts): StartTimes[] =>
  STARTS.map((start, index) => ({
    link: link.name,
    start,
    flows: kept.rounds.map((round) => round[index]!),
    emulatedMs: emulateStart(link, start, sender),
  }));

const nameOf = ({ factor }: Start): string => (factor === null ? 'slow start' : `${factor} × the rate`);

/** @returns one line, or null where the servers can run */
async function missingPrograms(sender: StartSender, site: string): Promise<string | null> {
  if (SENDERS[sender].stack === 'go') return null;
  try {
    await frontPrograms(site);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Adds the rounds that are missing. */
async function measureLink(
  site: string,
  sender: StartSender,
  link: Link,
  kept: KeptStarts,
  seed: number,
  { cleanup, signal }: ProgramContext,
): Promise<void> {
  const begins = BEGINS_MS.slice(kept.rounds.length);
  if (begins.length === 0) return;
  const { protocol, stack, otherWindow } = SENDERS[sender];
  const network = networkOf(link);
  const lab = await Lab.up({
    site,
    network: { ...network, seed },
    stack,
    aheadOfOthers: true,
    receiveBuffer: RECEIVE_BUFFER,
    signal,
  });
  cleanup.add('the lab', () => lab.down());
  await lab.configureServers({ [OTHER]: { initialWindow: otherWindow(link), ...PACED } });
  for (const beginMs of begins) {
    const round: StartedFlow[] = [];
    for (const start of STARTS) {
      signal.throwIfAborted();
      const { bytes, factor } = start;
      // The server has forgotten which rates were too high.
      await lab.configureServers({ [FLOW]: { ...PACED, ...serverOf(factor) } });
      const flow = { origin: FLOW, protocol, ...(factor !== null && { startMbps: factor * link.mbps }) };
      if (factor !== null) await makeTransfers(lab, flow, [ANNOUNCING_BYTES], signal);
      await lab.drain();
      const other = await EndlessTransfer.start(
        lab,
        { origin: OTHER, protocol },
        OTHER_BYTES,
        OTHER_TIMES,
        signal,
      );
      cleanup.add('the other flow', () => other.stop());
      await sleep(beginMs, undefined, { signal });
      await lab.resetStats();
      const [transfer] = await makeTransfers(lab, flow, [bytes], signal, TIMEOUT_MS);
      const { down } = await lab.stats();
      if (transfer!.unfinished || !other.isRunning)
        throw new UserError(`${link.name}: of two flows of ${sender}, one ended too early or not at all`);
      await other.stop();
      round.push({
        timeMs: transfer!.totalMs,
        drops: down.drops.queue,
        latenessMs: down.latenessMs.max,
      });
    }
    await kept.add(round);
  }
  await lab.down();
}

const serverOf = (factor: number | null): SiteServerChange =>
  factor === null
    ? { initialWindow: SLOW_START_WINDOW, startRate: false }
    : { initialWindow: 2, startRate: true };

function startSite(sender: StartSender): Site {
  const server = { protocols: [SENDERS[sender].protocol], extraRttMs: 0, initialWindow: SLOW_START_WINDOW };
  const body = (origin: string, bytes: number): Site['resources'][number] => ({
    origin,
    path: `/${bytes}`,
    status: 200,
    headers: {},
    body: { filler: 'bytes', bytes },
    thinkMs: 0,
  });
  return {
    format: 'hopwise-site',
    version: 1,
    name: 'start rates',
    entry: `${FLOW}/${SHORT_BYTES}`,
    origins: [
      { ...server, origin: FLOW },
      { ...server, origin: OTHER },
    ],
    resources: [
      ...[ANNOUNCING_BYTES, SHORT_BYTES, LONG_BYTES].map((bytes) => body(FLOW, bytes)),
      body(OTHER, OTHER_BYTES),
    ],
  };
}
