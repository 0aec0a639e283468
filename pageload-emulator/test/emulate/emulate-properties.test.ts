import { emulate, type NetworkPath, PROTOCOLS, type Protocol } from '@hopwise/pageload-emulator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countRuns } from '../../../scripts/suites/draw-share.ts';
import { type FetchSketch, pageOf, pathOf, serverOf, uniform } from '../support/pages.ts';

const fetchSketch = fc.record({
  origin: fc.nat(3),
  bytes: fc.integer({ min: 1, max: 300_000 }),
  parent: fc.nat(1_000),
  urgency: fc.integer({ min: 0, max: 5 }),
  incremental: fc.boolean(),
  delayMs: fc.constantFrom(0, 0, 20),
});

/** Up to 40 fetches on four origins, each waiting for one before it. */
const page = fc.array(fetchSketch, { minLength: 1, maxLength: 40 }).map((sketches): FetchSketch[] =>
  sketches.map(({ parent, ...sketch }, index) => ({
    ...sketch,
    origin: index === 0 ? 0 : sketch.origin,
    after: index === 0 ? [] : [parent % index],
  })),
);

const ORIGINS = ['https://a.test', 'https://b.test', 'https://c.test', 'https://d.test'];
const SERVERS = ORIGINS.map((origin, index) =>
  serverOf(origin, { extraRttMs: index * 7, thinkMs: index * 3 }),
);

const path = fc
  .record({
    rttMs: fc.constantFrom(10, 50, 120, 300),
    downBps: fc.constantFrom(1e6, 5e6, 20e6, 100e6),
    loss: fc.constantFrom(0, 0, 0.001, 0.01, 0.03),
    lossBurst: fc.constantFrom(1, 4),
  })
  .map((figures): NetworkPath => pathOf(figures));

const protocol = fc.constantFrom<Protocol>(...PROTOCOLS);
const RUNS = { numRuns: countRuns(50, 150) };

describe('emulate', () => {
  it('hands every byte to the page once despite losses', () => {
    fc.assert(
      fc.property(page, path, protocol, fc.nat(), (fetches, network, carrier, seed) => {
        const graph = pageOf(fetches, ORIGINS);
        const run = emulate(graph, network, SERVERS, uniform(graph, carrier), { seed, waterfall: true });
        expect(run.bytes).toBe(fetches.reduce((sum, { bytes }) => sum + bytes, 0));
        expect(run.entries).toHaveLength(fetches.length);
        expect(run.origins.reduce((sum, { requests }) => sum + requests, 0)).toBe(fetches.length);
      }),
      RUNS,
    );
  });

  it('orders the phases of every request and keeps dependencies', () => {
    fc.assert(
      fc.property(page, path, protocol, fc.nat(), (fetches, network, carrier, seed) => {
        const graph = pageOf(fetches, ORIGINS);
        const { entries, pltMs } = emulate(graph, network, SERVERS, uniform(graph, carrier), {
          seed,
          waterfall: true,
        });
        for (const [index, entry] of entries.entries()) {
          expect(entry.sentMs).toBeGreaterThanOrEqual(entry.startMs);
          expect(entry.firstByteMs).toBeGreaterThanOrEqual(entry.sentMs + network.rttMs - 1e-6);
          expect(entry.endMs).toBeGreaterThanOrEqual(entry.firstByteMs);
          for (const parent of fetches[index]!.after!) {
            expect(entry.startMs).toBeGreaterThanOrEqual(entries[parent]!.endMs);
          }
        }
        expect(pltMs).toBeCloseTo(Math.max(...entries.map(({ endMs }) => endMs)), 6);
      }),
      RUNS,
    );
  });

  it('is the same for every seed without loss, and the same for one seed with it', () => {
    fc.assert(
      fc.property(page, path, protocol, fc.nat(), (fetches, network, carrier, seed) => {
        const graph = pageOf(fetches, ORIGINS);
        const load = (loss: number, withSeed: number) =>
          emulate(graph, { ...network, loss }, SERVERS, uniform(graph, carrier), { seed: withSeed }).pltMs;
        expect(load(0, seed)).toBe(load(0, 1));
        expect(load(0.02, seed)).toBe(load(0.02, seed));
      }),
      RUNS,
    );
  });

  it('does not depend on the names of origins', () => {
    fc.assert(
      fc.property(page, path, protocol, fc.nat(), (fetches, network, carrier, seed) => {
        const graph = pageOf(fetches, ORIGINS);
        const renamed = ORIGINS.map((_, index) => `https://z${9 - index}.example`);
        const other = pageOf(fetches, renamed);
        const servers = SERVERS.map((server, index) => ({ ...server, origin: renamed[index]! })).reverse();
        expect(emulate(other, network, servers, uniform(other, carrier), { seed }).pltMs).toBe(
          emulate(graph, network, SERVERS, uniform(graph, carrier), { seed }).pltMs,
        );
      }),
      RUNS,
    );
  });

  it('does not depend on the order of origins without loss', () => {
    fc.assert(
      fc.property(page, path, protocol, (fetches, network, carrier) => {
        const clean = { ...network, loss: 0 };
        const graph = pageOf(fetches, ORIGINS);
        const turned = pageOf(
          fetches.map((sketch) => ({ ...sketch, origin: 3 - sketch.origin! })),
          [...ORIGINS].reverse(),
        );
        expect(emulate(turned, clean, SERVERS, uniform(turned, carrier)).pltMs).toBe(
          emulate(graph, clean, SERVERS, uniform(graph, carrier)).pltMs,
        );
      }),
      RUNS,
    );
  });

  it('is not slower with twice the bandwidth and queue, except when slow start overshoots', () => {
    // A window that hits a deeper queue later loses more at once: real, rare, and bounded.
    const cases = fc.sample(fc.tuple(page, path, protocol), { seed: 20260105, numRuns: 600 });
    const changes = cases.map(([fetches, network, carrier]) => {
      const clean = { ...network, loss: 0 };
      const wide = {
        ...clean,
        downBps: 2 * clean.downBps,
        upBps: 2 * clean.upBps,
        queueBytes: 2 * clean.queueBytes,
      };
      const graph = pageOf(fetches, ORIGINS);
      const assignment = uniform(graph, carrier);
      return (
        emulate(graph, wide, SERVERS, assignment).pltMs / emulate(graph, clean, SERVERS, assignment).pltMs - 1
      );
    });
    expect(changes.filter((change) => change > 0.02).length).toBeLessThanOrEqual(12);
    expect(Math.max(...changes)).toBeLessThan(0.35);
  });

  it('is never faster than the link and the round trips allow', () => {
    fc.assert(
      fc.property(page, path, protocol, fc.nat(), (fetches, network, carrier, seed) => {
        const graph = pageOf(fetches, ORIGINS);
        const { pltMs } = emulate(graph, network, SERVERS, uniform(graph, carrier), { seed });
        const bytes = fetches.reduce((sum, sketch) => sum + sketch.bytes, 0);
        const roundTrips = carrier === 'h3' ? 2 : 3;
        expect(pltMs).toBeGreaterThanOrEqual((bytes * 8000) / network.downBps);
        expect(pltMs).toBeGreaterThanOrEqual(roundTrips * network.rttMs);
      }),
      RUNS,
    );
  });
});

describe('a lost packet', () => {
  const images = Array.from({ length: 40 }, () => ({ bytes: 20_000 }));
  const graph = pageOf(images);
  const lossy = pathOf({ loss: 0.02 });
  const blocked = (carrier: Protocol) => {
    let streams = 0;
    for (let seed = 1; seed <= 20; seed++) {
      const run = emulate(graph, lossy, [serverOf('https://a.test')], uniform(graph, carrier), { seed });
      streams += run.origins[0]!.blockedStreams;
    }
    return streams;
  };

  it('holds up other responses on HTTP/2 only', () => {
    expect(blocked('h2')).toBeGreaterThan(20);
    expect(blocked('h3')).toBe(0);
    expect(blocked('h1')).toBe(0);
  });

  it('costs time', () => {
    const meanOver = (loss: number) => {
      let sum = 0;
      for (let seed = 1; seed <= 20; seed++) {
        sum += emulate(graph, { ...lossy, loss }, [serverOf('https://a.test')], uniform(graph, 'h2'), {
          seed,
        }).pltMs;
      }
      return sum / 20;
    };
    const [clean, some, many] = [meanOver(0), meanOver(0.01), meanOver(0.03)];
    expect(some).toBeGreaterThan(clean! * 1.05);
    expect(many).toBeGreaterThan(some!);
  });

  it('slows HTTP/3 down a lot when UDP is policed', () => {
    const policed = pathOf({ udp: { kind: 'policed', bps: 1e6 } });
    const open = emulate(graph, pathOf(), [serverOf('https://a.test')], uniform(graph, 'h3')).pltMs;
    const held = emulate(graph, policed, [serverOf('https://a.test')], uniform(graph, 'h3'));
    // 800 kB at 1 Mbit/s take at least 6.4 s.
    expect(held.pltMs).toBeGreaterThan(6_000);
    expect(held.origins[0]!.policed).toBeGreaterThan(0);
    expect(open).toBeLessThan(1_500);
  });
});
