import { labObstacle } from '@hopwise/lab/client/lab';
import type { LabNetwork } from '@hopwise/lab/client/networks';
import type { ProgramContext } from '@hopwise/lab/command/program';
import type { WindowCount } from '@hopwise/pageload-emulator/econ';
import { type CollectOptions, type CollectProgress, collectPcwnd } from '../../pcwnd/collect.ts';

/** Table 3's network. */
const RTT_MS = 30;
const MBPS = 50;
export const LOSSES = [0.001, 0.005, 0.01] as const;

/** The paper's flows last an hour. */
const FLOW_SECONDS = 130;
/** A whole number of them is a second. */
const SAMPLE_MS = 200;
export const SAMPLES_PER_SECOND = 1_000 / SAMPLE_MS;

/** A sender at one moment. */
export interface FlowSample {
  /** Since the first byte. */
  seconds: number;
  /** Acknowledged since then. */
  deliveredBytes: number;
  /** Rounds since the sample before. */
  windows: WindowCount[];
  /** Segments. */
  cwnd: number;
  ssthresh: number;
  reducing: boolean;
  /** Smoothed. */
  rttMs: number;
}

/** One bulk transfer of the kernel, five samples a second. */
export interface LongFlow {
  congestionControl: 'cubic' | 'reno';
  /** At first. */
  loss: number;
  /** Payload of a segment, bytes. */
  mss: number;
  samples: FlowSample[];
}

/** Section 5.2: the network of a flow of ten minutes changes every two minutes. */
export const CHANGE_SECONDS = 120;
export const CHANGING = [
  { rttMs: 100, loss: 1e-4 },
  { rttMs: 100, loss: 1e-3 },
  { rttMs: 100, loss: 1e-5 },
  { rttMs: 200, loss: 1e-4 },
  { rttMs: 50, loss: 1e-4 },
] as const;

/** At Table 3's rate: that of the network which changes is not stated. */
const linkOf = ({ rttMs, loss }: { rttMs: number; loss: number }): LabNetwork => ({
  rttMs,
  downMbps: MBPS,
  upMbps: MBPS,
  loss,
  lossBurst: 1,
  queue: { bdp: 1 },
  udp: 'open',
});

/**
 * Flows over Table 3's network, watched at their sender.
 *
 * @returns why this machine has no lab, or a flow for each loss
 */
export async function measureLongFlows(
  congestionControl: LongFlow['congestionControl'],
  seed: number,
  { signal, say }: Pick<ProgramContext, 'signal' | 'say'>,
): Promise<string | LongFlow[]> {
  const obstacle = await labObstacle();
  if (obstacle !== null) return obstacle;
  const flows: LongFlow[] = [];
  for (const [index, loss] of LOSSES.entries()) {
    say(`${congestionControl} at ${100 * loss}% loss, ${FLOW_SECONDS} s`);
    const network = { ...linkOf({ rttMs: RTT_MS, loss }), seed: seed * 1_000 + index };
    flows.push(await measureFlow(congestionControl, { network, seconds: FLOW_SECONDS, signal }));
  }
  return flows;
}

/**
 * A flow under Reno over the network that changes.
 *
 * @returns why this machine has no lab, or the flow
 */
export async function measureChangingFlow(
  seed: number,
  { signal, say }: Pick<ProgramContext, 'signal' | 'say'>,
): Promise<string | LongFlow> {
  const obstacle = await labObstacle();
  if (obstacle !== null) return obstacle;
  const seconds = CHANGE_SECONDS * CHANGING.length;
  say(`reno over a network that changes every ${CHANGE_SECONDS} s, ${seconds} s`);
  const [first, ...later] = CHANGING.map(linkOf);
  return measureFlow('reno', {
    network: { ...first!, seed: seed * 1_000 },
    changes: later.map((network, index) => ({ seconds: CHANGE_SECONDS * (index + 1), network })),
    seconds,
    signal,
  });
}

async function measureFlow(
  congestionControl: LongFlow['congestionControl'],
  options: Pick<CollectOptions, 'network' | 'changes' | 'seconds' | 'signal'>,
): Promise<LongFlow> {
  const samples: FlowSample[] = [];
  const { mss } = await collectPcwnd({
    ...options,
    congestionControl,
    connections: 1,
    progressMs: SAMPLE_MS,
    onProgress: (progress) => samples.push(sampleOf(progress)),
  });
  return { congestionControl, loss: options.network.loss, mss, samples };
}

function sampleOf({ seconds, windows, connections: [sender] }: CollectProgress): FlowSample {
  return { seconds, windows, ...sender! };
}
