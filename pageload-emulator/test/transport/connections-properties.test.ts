import {
  emulate,
  type FetchActivity,
  type NetworkPath,
  PROTOCOLS,
  type Protocol,
  type ServerProfile,
} from '@hopwise/pageload-emulator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FetchSketch, pageOf, pathOf, serverOf } from '../support/pages.ts';

const ORIGINS = ['https://a.test', 'https://a.test:8443', 'https://b.test', 'https://c.test'];

const page = fc
  .array(
    fc.record({
      origin: fc.nat(3),
      bytes: fc.integer({ min: 1, max: 60_000 }),
      requestBytes: fc.constantFrom(300, 300, 3_000, 40_000),
      parent: fc.nat(1_000),
      urgency: fc.nat(7),
      incremental: fc.boolean(),
      delayMs: fc.constantFrom(0, 0, 15, 400),
      pool: fc.constantFrom(0, 0, 0, 1),
    }),
    { minLength: 1, maxLength: 40 },
  )
  .map((sketches) =>
    sketches.map(({ parent, ...sketch }, index): FetchSketch & { pool: number } => ({
      ...sketch,
      after: index === 0 ? [] : [parent % index],
    })),
  );

const absent = fc.constant(undefined);
const session = fc.constantFrom('resumed' as const, 'early-data' as const, undefined);
const server = fc.record({
  dnsMs: fc.constantFrom(0, 30, 300),
  tlsVersion: fc.constantFrom('1.2' as const, '1.3' as const),
  falseStart: fc.boolean(),
  session: fc.record({ tcp: session, quic: session }),
  extraHandshakeRounds: fc.record({ tcp: fc.nat(1), quic: fc.nat(2) }),
  h3Discovery: fc.constantFrom('known' as const, 'https-record' as const, 'alt-svc' as const),
  quicHandshake: fc.constantFrom('open' as const, 'open' as const, 'refused' as const, 'silent' as const),
  maxStreams: fc.oneof(
    absent,
    fc.record({ h2: fc.integer({ min: 1, max: 5 }), h3: fc.integer({ min: 1, max: 5 }) }),
  ),
  connectionGroup: fc.constantFrom('one', 'other', undefined),
  prioritises: fc.boolean(),
  offers: fc.record({ h1: fc.constant(true), h2: fc.boolean(), h3: fc.constant(true) }),
});
const servers = fc
  .tuple(server, server, server, server)
  .map((list) => list.map((changes, index) => serverOf(ORIGINS[index]!, changes as Partial<ServerProfile>)));

const path = fc
  .record({
    rttMs: fc.constantFrom(10, 80, 300),
    downBps: fc.constantFrom(1e6, 20e6),
    upBps: fc.constantFrom(0.5e6, 20e6),
    loss: fc.constantFrom(0, 0, 0.02),
    udp: fc.constantFrom<NetworkPath['udp']>(
      { kind: 'open' },
      { kind: 'blocked' },
      { kind: 'lossy', loss: 0.05 },
      { kind: 'policed', bps: 1e6, burstBytes: 9_000 },
    ),
  })
  .map((figures) => pathOf(figures));

const protocols = fc.array(fc.constantFrom<Protocol>(...PROTOCOLS), { minLength: 4, maxLength: 4 });

function loadOf(
  fetches: (FetchSketch & { pool: number })[],
  network: NetworkPath,
  profiles: ServerProfile[],
  assigned: Protocol[],
  seed: number,
) {
  const graph = pageOf(fetches, ORIGINS);
  for (const [index, { pool }] of fetches.entries()) {
    if (pool !== 0) (graph.activities[index] as FetchActivity).pool = pool;
  }
  const assignment = Object.fromEntries(ORIGINS.map((origin, index) => [origin, assigned[index]!]));
  return emulate(graph, network, profiles, assignment, { seed, waterfall: true });
}

describe('for all servers', () => {
  it('a load ends, with every request sent and answered once and in order', () => {
    fc.assert(
      fc.property(page, path, servers, protocols, fc.nat(), (fetches, network, profiles, assigned, seed) => {
        const load = loadOf(fetches, network, profiles, assigned, seed);
        expect(load.bytes).toBe(fetches.reduce((sum, { bytes }) => sum + bytes, 0));
        expect(load.entries).toHaveLength(fetches.length);
        expect(load.origins.reduce((sum, { requests }) => sum + requests, 0)).toBe(fetches.length);
        for (const { startMs, sentMs, firstByteMs, endMs } of load.entries) {
          expect(sentMs).toBeGreaterThanOrEqual(startMs);
          expect(firstByteMs).toBeGreaterThanOrEqual(sentMs + network.rttMs - 1e-6);
          expect(endMs).toBeGreaterThanOrEqual(firstByteMs);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('a load is the same for every seed without loss, and for the same seed with loss', () => {
    fc.assert(
      fc.property(page, path, servers, protocols, fc.nat(), (fetches, network, profiles, assigned, seed) => {
        const lossless = { ...network, loss: 0, udp: { kind: 'open' as const } };
        const time = (on: NetworkPath, withSeed: number) =>
          loadOf(fetches, on, profiles, assigned, withSeed).pltMs;
        expect(time(lossless, seed)).toBe(time(lossless, 1));
        expect(time(network, seed)).toBe(time(network, seed));
      }),
      { numRuns: 100 },
    );
  });

  it('resumed sessions and early data never cost time on an idle link with room in its queue', () => {
    const one = page.map((fetches) => [{ ...fetches[0]!, origin: 0 }]);
    fc.assert(
      fc.property(
        one,
        path,
        server,
        fc.constantFrom<Protocol>(...PROTOCOLS),
        (fetches, network, own, protocol) => {
          const lossless = { ...network, loss: 0, queueBytes: 1e6, udp: { kind: 'open' as const } };
          const time = (kept: 'resumed' | 'early-data' | undefined) => {
            // Where QUIC and TCP race, what helps one may hold up the other.
            const alone = { quicHandshake: 'open', h3Discovery: 'known' };
            const profile = { ...own, session: { tcp: kept, quic: kept }, ...alone };
            return loadOf(
              fetches,
              lossless,
              [serverOf(ORIGINS[0]!, profile as Partial<ServerProfile>)],
              [protocol],
              1,
            ).pltMs;
          };
          // A resuming ClientHello is 250 bytes longer.
          const longerMs = (250 * 8_000) / network.upBps;
          expect(time('resumed')).toBeLessThanOrEqual(1.01 * time(undefined) + longerMs);
          // Its pacing goes by a remembered round trip at first.
          expect(time('early-data')).toBeLessThanOrEqual(1.01 * time('resumed'));
        },
      ),
      { numRuns: 200 },
    );
  });
});
