import type { LabNetwork } from '@hopwise/lab/client/networks';

/** Bytes of a response. */
export const RESPONSE_BYTES = 100_000;
/** Initial windows to choose from, segments. */
export const WINDOWS = [10, 15, 20, 25, 30] as const;

/** TCP WISE's testbed: 20 Mbit/s and 20 ms, of which one figure changes for a time and changes back (its Figures 7 to 9). The queue is assumed. */
const USUAL: LabNetwork = {
  rttMs: 20,
  downMbps: 20,
  upMbps: 20,
  loss: 0,
  lossBurst: 1,
  queue: { bdp: 1 },
  udp: 'open',
};

export interface WindowExperiment {
  name: string;
  source: string;
  phases: LabNetwork[];
}

const changing = (name: string, source: string, change: Partial<LabNetwork>): WindowExperiment => ({
  name,
  source,
  phases: [USUAL, { ...USUAL, ...change }, USUAL],
});

export const EXPERIMENTS: readonly WindowExperiment[] = [
  changing('rate 20 → 10 → 20 Mbit/s', 'Figure 7', { downMbps: 10, upMbps: 10 }),
  changing('round trip 20 → 10 → 20 ms', 'Figure 8', { rttMs: 10 }),
  changing('loss 0 → 10 → 0%', 'Figure 9', { loss: 0.1 }),
];
