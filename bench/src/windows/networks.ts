import type { LabNetwork } from '@hopwise/lab/client/networks';

const network = (
  own: Pick<LabNetwork, 'rttMs' | 'downMbps' | 'queue'> & Partial<LabNetwork>,
): LabNetwork => ({
  upMbps: own.downMbps,
  loss: 0,
  lossBurst: 1,
  udp: 'open',
  ...own,
});

/** Kinds of networks that a server's clients are on. */
export const NETWORKS: Record<string, LabNetwork> = {
  'far, fast': network({ rttMs: 80, downMbps: 100, queue: { ms: 100 } }),
  cable: network({ rttMs: 30, downMbps: 50, queue: { ms: 50 } }),
  dsl: network({ rttMs: 40, downMbps: 16, queue: { ms: 60 } }),
  mobile: network({ rttMs: 60, downMbps: 20, queue: { ms: 200 }, loss: 0.002 }),
  'tiny buffer': network({ rttMs: 40, downMbps: 10, queue: { bytes: 20_000 } }),
};
