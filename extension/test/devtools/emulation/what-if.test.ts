import { expect, test } from 'vitest';
import { pageOf, serverOf } from '../../../../pageload-emulator/test/support/pages.ts';
import { emulateLoads, type WhatIfServers } from '../../../src/devtools/emulation/what-if.ts';

const NETWORK = {
  ...{ rttMs: 100, downMbps: 20, upMbps: 20, loss: 0, lossBurst: 1, queueMs: 100 },
  udp: 'open' as const,
};
const AS_NOW: WhatIfServers = {
  ...{ initialWindow: null, startShare: null, congestionControl: null, prioritises: null },
  isConsolidated: false,
};

test('a start at a share of the rate saves round trips, the more the nearer the share is to the rate', () => {
  const graph = pageOf([{ bytes: 400_000 }]);
  const page = { graph, servers: [serverOf(graph.origins[0]!)] };
  const timeOf = (startShare: number | null) =>
    emulateLoads(page, { network: NETWORK, servers: { ...AS_NOW, startShare } }, 1).h2!;
  // 400 kB take 160 ms at 20 Mbit/s, and more than two further round trips in slow start from 10 packets.
  expect(timeOf(null)).toBeGreaterThan(timeOf(0.5) + 100);
  expect(timeOf(0.5)).toBeGreaterThan(timeOf(1) + 50);
});
