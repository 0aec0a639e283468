import { labObstacle } from '@hopwise/lab/client/lab';
import type { ProgramContext } from '@hopwise/lab/command/program';
import { type CollectProgress, collectPcwnd } from '@hopwise/lab/pcwnd/collect';
import type { WindowCount } from '@hopwise/pageload-emulator';

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
  loss: number;
  /** Payload of a segment, bytes. */
  mss: number;
  samples: FlowSample[];
}

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
    const samples: FlowSample[] = [];
    const { mss } = await collectPcwnd({
      network: {
        rttMs: RTT_MS,
        downMbps: MBPS,
        upMbps: MBPS,
        loss,
        lossBurst: 1,
        queue: { bdp: 1 },
        udp: 'open',
        seed: seed * 1_000 + index,
      },
      congestionControl,
      connections: 1,
      seconds: FLOW_SECONDS,
      progressMs: SAMPLE_MS,
      onProgress: (progress) => samples.push(sampleOf(progress)),
      signal,
    });
    flows.push({ congestionControl, loss, mss, samples });
  }
  return flows;
}

function sampleOf({ seconds, windows, connections: [sender] }: CollectProgress): FlowSample {
  return { seconds, windows, ...sender! };
}
