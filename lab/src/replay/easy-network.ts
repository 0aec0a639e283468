import type { Network } from '../client/networks.ts';

/** Nothing is lost or queued for long: what goes wrong with a page on it is the page's own fault. */
export const EASY_NETWORK: Network = {
  rttMs: 10,
  downMbps: 100,
  upMbps: 100,
  loss: 0,
  lossBurst: 1,
  queue: { ms: 100 },
  udp: 'open',
};
