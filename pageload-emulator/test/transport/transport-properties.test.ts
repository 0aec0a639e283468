import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emulate, type NetworkPath, PROTOCOLS, type SendingProfile } from '../../src/index.ts';
import { pageOf, pathOf, serverOf, uniform } from '../support/pages.ts';

const path = fc
  .record({
    rttMs: fc.constantFrom(0, 0.1, 1, 10, 50, 300, 2_000),
    downBps: fc.constantFrom(50e3, 1e6, 20e6, 1e9, 1e12),
    upBps: fc.constantFrom(20e3, 1e6, 1e12),
    loss: fc.constantFrom(0, 0, 0.001, 0.03, 0.2),
    lossBurst: fc.constantFrom(1, 1, 4, 100),
    queueBytes: fc.constantFrom(0, 1_000, 15_000, 1e6, 1e12),
  })
  .map((figures): NetworkPath => pathOf(figures));

const sending: fc.Arbitrary<SendingProfile> = fc.record(
  {
    initialWindow: fc.constantFrom(1, 2, 10, 32, 1_000),
    congestionControl: fc.constantFrom(...(['cubic', 'reno', 'bbr', 'hybla', 'quiche-cubic'] as const)),
    startBps: fc.constantFrom(1, 1e5, 2e7, 1e11),
  },
  { requiredKeys: ['initialWindow', 'congestionControl'] },
);

describe('a load ends with all its bytes', () => {
  it('on all paths and with all servers', () => {
    fc.assert(
      fc.property(
        path,
        sending,
        fc.constantFrom(...PROTOCOLS),
        fc.array(fc.constantFrom(1, 700, 20_000, 300_000), { minLength: 1, maxLength: 6 }),
        fc.nat(),
        (network, profile, protocol, sizes, seed) => {
          const graph = pageOf(sizes.map((bytes, at) => ({ bytes, after: at === 0 ? [] : [0] })));
          const server = { ...serverOf(graph.origins[0]!), tcp: profile, quic: profile };
          const load = emulate(graph, network, [server], uniform(graph, protocol), { seed, waterfall: true });
          expect(load.bytes).toBe(sizes.reduce((sum, bytes) => sum + bytes, 0));
          expect(Number.isFinite(load.pltMs)).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('a burst of losses is over when a timer has run', () => {
  const graph = pageOf([{ bytes: 300_000, after: [] }]);
  const network = pathOf({ rttMs: 1, downBps: 1e7, upBps: 1e7, loss: 0.02, lossBurst: 8 });

  // On the way back a burst takes single acknowledgements: it would last for as many timeouts, each twice as long as the last one.
  it.each(['h2', 'h3'] as const)('on the way back as well, over %s', (protocol) => {
    const times = Array.from(
      { length: 200 },
      (_, seed) => emulate(graph, network, [], uniform(graph, protocol), { seed }).pltMs,
    );
    expect(Math.max(...times)).toBeLessThan(10_000);
  });
});
