import { join } from 'node:path';
import { labObstacle } from '@hopwise/lab/client/lab';
import type { LabNetwork } from '@hopwise/lab/client/networks';
import type { ProgramContext } from '@hopwise/lab/command/program';
import { makeScratch, removeScratch } from '@hopwise/lab/command/scratch';
import { writeSite } from '@hopwise/lab/sites/write-site';
import { median } from '@hopwise/lab/statistics';
import { bottleneckShare, FlowLatency, lossBySegment, SEGMENT_BYTES } from '@hopwise/pageload-emulator';
import { FlowLab, flowSite } from '../../flows/flow-lab.ts';
import type { FlowCell } from '../../flows/grid.ts';
import { RIVALS } from './rivals.ts';

/** Table 3's network. */
const RTT_MS = 30;
const MBPS = 50;
export const LOSSES = [0.001, 0.005, 0.01] as const;

/** Within the 1 to 100 MB of section 5.3; larger flows take long at 1% loss. */
const FLOW_BYTES = 2_000_000;
const INITIAL_WINDOW = 10;
/** Flows that the rivals learn from before each predicted one, and flows that are predicted. */
const HISTORY = 5;
const PREDICTED = 15;

/** Median errors of the latency, fractions. */
export interface FlowErrors {
  loss: number;
  econ: number;
  rivals: Record<keyof typeof RIVALS, number>;
}

/**
 * Flows of the kernel's Cubic on Table 3's network, predicted by ECON from the network and by its rivals from the flows before.
 *
 * @returns why this machine has no lab, or the errors by loss
 */
export async function measureFlowErrors(
  seed: number,
  { cleanup, signal, say }: ProgramContext,
): Promise<string | FlowErrors[]> {
  const obstacle = await labObstacle();
  if (obstacle !== null) return obstacle;
  const scratch = await makeScratch('run');
  cleanup.add('the site of the flows', () => removeScratch(scratch));
  const site = join(scratch, 'site');
  await writeSite({ site: flowSite([FLOW_BYTES]), files: new Map() }, site);
  const cells = LOSSES.map(cellOf);
  const lab = await FlowLab.up(site, cells[0]!, signal);
  cleanup.add('the lab', () => lab.down());
  const errors: FlowErrors[] = [];
  for (const [index, cell] of cells.entries()) {
    const timesMs: number[] = [];
    await lab.prepare(cell);
    for (let flow = 0; flow < HISTORY + PREDICTED; flow++) {
      signal.throwIfAborted();
      const { sentMs, totalMs } = await lab.measure(cell, seed * 1_000 + flow);
      timesMs.push(totalMs - sentMs);
    }
    const error = { loss: LOSSES[index]!, ...errorsOf(timesMs, econMs(LOSSES[index]!)) };
    say(
      `Cubic at ${100 * error.loss}% loss: median ${Math.round(median(timesMs))} ms, ECON ${Math.round(econMs(error.loss))} ms`,
    );
    errors.push(error);
  }
  await lab.down();
  return errors;
}

function cellOf(loss: number): FlowCell {
  const network: LabNetwork = {
    rttMs: RTT_MS,
    downMbps: MBPS,
    upMbps: MBPS,
    loss,
    lossBurst: 1,
    queue: { bdp: 1 },
    udp: 'open',
  };
  const bytes = FLOW_BYTES;
  return {
    id: `table 3, ${loss}`,
    half: 'judged',
    sender: 'cubic',
    bytes,
    initialWindow: INITIAL_WINDOW,
    network,
    expectedMs: 0,
  };
}

/** ECON's latency of a flow, the network given: it has no history. */
function econMs(loss: number): number {
  const segmentsPerMs = (MBPS * 1_000) / 8 / SEGMENT_BYTES;
  const conditions = {
    congestionControl: 'cubic' as const,
    rttMs: RTT_MS,
    loss: lossBySegment(loss),
    ...bottleneckShare(RTT_MS, segmentsPerMs, segmentsPerMs * RTT_MS, 1),
  };
  return new FlowLatency(conditions).latencyMs(Math.ceil(FLOW_BYTES / SEGMENT_BYTES), {
    window: INITIAL_WINDOW,
  });
}

/** @param timesMs in the order of the flows, `HISTORY` of them before the first predicted one */
export function errorsOf(timesMs: readonly number[], predictedMs: number): Omit<FlowErrors, 'loss'> {
  const judged = timesMs.slice(HISTORY);
  const errorOf = (guess: (index: number) => number) =>
    median(judged.map((actual, index) => Math.abs(guess(index) / actual - 1)));
  // The rivals predict throughput, which is the inverse of the time for flows of one size.
  const rates = timesMs.map((time) => 1 / time);
  const rivals = Object.fromEntries(
    Object.entries(RIVALS).map(([name, rival]) => [
      name,
      errorOf((index) => 1 / rival(rates.slice(index, index + HISTORY))),
    ]),
  ) as FlowErrors['rivals'];
  return { econ: errorOf(() => predictedMs), rivals };
}
