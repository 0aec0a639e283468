import {
  buildGraph,
  type FetchActivity,
  type NetworkPath,
  type Protocol,
  type Recording,
} from '@hopwise/pageload-emulator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countRuns } from '../../../scripts/suites/draw-share.ts';
import type { KnownLink } from '../../src/graph/known-link.ts';
import { generatedPage } from '../support/generated-pages.ts';
import { type FetchSketch, pageOf, pathOf, serverOf, uniform } from '../support/pages.ts';
import { randomPage, randomServers, recordLoad } from '../support/synthetic-loads.ts';

const ORIGINS = ['https://www.test', 'https://cdn.test'];
const PATH = pathOf({ rttMs: 40, downBps: 20e6 });

function load(fetches: FetchSketch[], protocol: Protocol, path = PATH): Recording {
  const page = pageOf(fetches, ORIGINS);
  return recordLoad(
    page,
    path,
    ORIGINS.map((origin) => serverOf(origin)),
    uniform(page, protocol),
  );
}

/** Servers' times for bodies as they are read, by request. */
function bodyTimesOf(recording: Recording, link?: KnownLink): Map<number, number> {
  const fetches = buildGraph(recording, link).activities.filter(
    (each): each is FetchActivity => each.kind === 'fetch',
  );
  return new Map(
    fetches.flatMap(({ requestId, bodyMs }) => (bodyMs === undefined ? [] : [[requestId, bodyMs]])),
  );
}

const linkOf = ({ downBps, upBps, queueBytes, udp }: NetworkPath): KnownLink => ({
  downBps,
  upBps,
  maxQueueMs: (8000 * queueBytes) / downBps,
  udp,
});

const files = Array.from({ length: 12 }, (_, index) => ({ origin: index % 2, bytes: 15_000, after: [0] }));

describe('times of servers for bodies', () => {
  it.each(['h1', 'h2'] as const)('are read where one response comes slowly, over %s', (protocol) => {
    const slow = { origin: 1, bytes: 30_000, after: [0], bodyMs: 2_000 };
    const read = bodyTimesOf(load([{ bytes: 20_000 }, slow, ...files], protocol));
    expect([...read.keys()]).toEqual([1]);
    expect(read.get(1)! / 2_000).toBeCloseTo(1, 1);
  });

  it('are read by what came once all others had ended', () => {
    // The files take 0.9 s of the link, after which the slow response comes alone.
    const path = pathOf({ rttMs: 50, downBps: 13e6 });
    const slow = { bytes: 120_000, after: [0], bodyMs: 2_600 };
    const many = Array.from({ length: 36 }, (_, index) => ({ origin: index % 2, bytes: 40_000, after: [0] }));
    const read = bodyTimesOf(load([{ bytes: 20_000 }, slow, ...many], 'h2', path), linkOf(path));
    expect([...read.keys()]).toEqual([1]);
  });

  describe('over HTTP/3', () => {
    const slow = { origin: 1, bytes: 30_000, after: [0], bodyMs: 2_000 };
    const withSlow = load([{ bytes: 20_000 }, slow, ...files], 'h3');

    it('are not read before it is known what happens to UDP', () => {
      expect(bodyTimesOf(withSlow).size).toBe(0);
    });

    it('are read where UDP is open', () => {
      expect([...bodyTimesOf(withSlow, linkOf(PATH)).keys()]).toEqual([1]);
    });

    it('are read where a policer would have let them through sooner', () => {
      const policedAt = (bps: number) => pathOf({ rttMs: 40, downBps: 20e6, udp: { kind: 'policed', bps } });
      expect([...bodyTimesOf(withSlow, linkOf(policedAt(5e6))).keys()]).toEqual([1]);
      expect(bodyTimesOf(withSlow, linkOf(policedAt(1e6))).size).toBe(0);
    });

    it('are not read of a small response that comes last through a busy policer: servers send by priorities that no recording shows', () => {
      const policed = pathOf({ rttMs: 40, downBps: 50e6, udp: { kind: 'policed', bps: 1.5e6 } });
      const small = { bytes: 3_000, after: [0] };
      const others = Array.from({ length: 12 }, (_, index) => ({ bytes: 10_000 * (index + 1), after: [0] }));
      const { requests, ...recording } = load([{ bytes: 20_000 }, small, ...others], 'h3', policed);
      const lastMs = Math.max(...requests.map(({ endMs }) => endMs));
      const late = requests.map((each) => (each.id === 1 ? { ...each, endMs: lastMs + 50 } : each));
      expect(bodyTimesOf({ ...recording, requests: late }, linkOf(policed)).size).toBe(0);
    });

    it.each([0.8e6, 1.5e6, 3e6])('are hardly read where UDP is policed at %d bit/s', (bps) => {
      const path = pathOf({ rttMs: 40, downBps: 50e6, udp: { kind: 'policed', bps } });
      for (let seed = 1; seed <= 5; seed++) {
        const page = randomPage(seed);
        const recording = recordLoad(page, path, randomServers(page, seed), uniform(page, 'h3'), seed);
        const read = bodyTimesOf(recording, linkOf(path));
        expect(read.size).toBeLessThanOrEqual(0.1 * page.activities.length);
      }
    });

    it.each([0.02, 0.05])('are hardly read where UDP alone loses %d of its packets', (loss) => {
      const path = pathOf({ rttMs: 90, downBps: 50e6, udp: { kind: 'lossy', loss } });
      for (let seed = 1; seed <= 5; seed++) {
        const page = randomPage(seed);
        const recording = recordLoad(page, path, randomServers(page, seed), uniform(page, 'h3'), seed);
        const read = bodyTimesOf(recording, linkOf(path));
        expect(read.size).toBeLessThanOrEqual(0.02 * page.activities.length);
      }
    });
  });

  describe('of a server that is slow for all that its connection carries', () => {
    const slow = Array.from({ length: 5 }, (_, index) => ({
      origin: 1,
      bytes: 8_000,
      after: [0],
      bodyMs: 2_500 + 300 * index,
    }));
    const own = files.map((file) => ({ ...file, origin: 0 }));
    const ids = [1, 2, 3, 4, 5];

    it.each(['h2', 'h3'] as const)(
      'are read where other origins answer without a stall, over %s',
      (protocol) => {
        const recording = load([{ bytes: 20_000 }, ...slow, ...own], protocol);
        expect([...bodyTimesOf(recording, linkOf(PATH)).keys()]).toEqual(ids);
      },
    );

    it('are read where nothing else comes meanwhile', () => {
      const late = slow.map((each) => ({ ...each, delayMs: 1_500 }));
      const recording = load([{ bytes: 20_000 }, ...late, ...own], 'h2');
      const read = [...bodyTimesOf(recording, linkOf(PATH)).values()];
      expect(read).toHaveLength(slow.length);
    });

    it('are not read where other origins stall, too', () => {
      const all = [...slow, ...own.map((file) => ({ ...file, bodyMs: 900 }))];
      expect(bodyTimesOf(load([{ bytes: 20_000 }, ...all], 'h2'), linkOf(PATH)).size).toBe(0);
    });

    it.each(['h2', 'h3'] as const)(
      'are not read where losses slow a busy connection, over %s',
      (protocol) => {
        const path = pathOf({ rttMs: 60, downBps: 20e6, loss: 0.01 });
        for (let seed = 1; seed <= 3; seed++) {
          const { graph, servers } = generatedPage(seed, 3, 300);
          const recording = recordLoad(graph, path, servers, uniform(graph, protocol), seed);
          expect([...bodyTimesOf(recording, linkOf(path))]).toEqual([]);
        }
      },
    );

    it('are not read where UDP is policed, which starves single connections whatever others get', () => {
      const recording = load([{ bytes: 20_000 }, ...slow, ...own], 'h3');
      const policed = pathOf({ ...PATH, udp: { kind: 'policed', bps: 3e6 } });
      expect(bodyTimesOf(recording, linkOf(policed)).size).toBe(0);
    });

    it('are not read where a policer explains them', () => {
      const recording = load([{ bytes: 20_000 }, ...slow, ...own], 'h3');
      const policed = pathOf({ ...PATH, udp: { kind: 'policed', bps: 0.5e6 } });
      expect(bodyTimesOf(recording, linkOf(policed)).size).toBe(0);
    });
  });

  it('are read on a slow link that other responses fill, whose full queue drains sooner', () => {
    const path = pathOf({ rttMs: 20, downBps: 1e6, queueBytes: 20_000 });
    const slow = { origin: 1, bytes: 3_000, after: [0], bodyMs: 3_000 };
    const large = { origin: 0, bytes: 400_000, after: [0] };
    const recording = load([{ bytes: 5_000 }, slow, large], 'h2', path);
    expect([...bodyTimesOf(recording).keys()]).toEqual([1]);
    expect([...bodyTimesOf(recording, linkOf(path)).keys()]).toEqual([1]);
  });

  it('are not read where the queue of a busy link drops packets of all new connections', () => {
    const path = pathOf({ rttMs: 8, downBps: 1.5e6, queueBytes: 12_000 });
    const page = Array.from({ length: 24 }, (_, index) => ({ origin: index % 2, bytes: 16_000, after: [0] }));
    const recording = load([{ bytes: 40_000 }, ...page], 'h1', path);
    expect(bodyTimesOf(recording, linkOf(path)).size).toBe(0);
  });

  it('are not read where most of a page comes slowly', () => {
    const path = pathOf({ rttMs: 40, downBps: 50e6 });
    const recording = load(
      [{ bytes: 20_000 }, ...files.map((file) => ({ ...file, bodyMs: 1_000 }))],
      'h1',
      path,
    );
    expect(bodyTimesOf(recording, linkOf(path)).size).toBe(0);
  });

  it.each(['h1', 'h2'] as const)(
    'are not read from queueing behind others on a slow link, over %s',
    (protocol) => {
      const path = pathOf({ rttMs: 100, downBps: 1e6 });
      const large = Array.from({ length: 8 }, (_, index) => ({
        origin: index % 2,
        bytes: 60_000,
        after: [0],
      }));
      const recording = load([{ bytes: 20_000 }, ...large], protocol, path);
      const longestMs = Math.max(
        ...recording.requests.map(({ endMs, phases }) => endMs - phases.responseStartMs!),
      );
      expect(longestMs).toBeGreaterThan(1_000);
      expect(bodyTimesOf(recording).size).toBe(0);
    },
  );

  it('are not read from a lost packet that holds up all responses on a connection', () => {
    const recording = load([{ bytes: 20_000 }, ...files], 'h2');
    const held = recording.requests.map((request) =>
      request.id > 0 && request.id % 2 === 0 ? { ...request, endMs: 1_500 + request.id } : request,
    );
    expect(bodyTimesOf({ ...recording, requests: held, pltMs: 1_600 }).size).toBe(0);
  });

  it('are not invented where the network alone takes time', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.constantFrom<Protocol>('h1', 'h2', 'h3'),
        fc.constantFrom(10, 60, 300),
        fc.constantFrom(1e6, 5e6, 50e6),
        (seed, protocol, rttMs, downBps) => {
          const page = randomPage(seed);
          // Nothing is dropped by so deep a queue.
          const path = pathOf({ rttMs, downBps, queueBytes: 3_000_000 });
          const recording = recordLoad(page, path, randomServers(page, seed), uniform(page, protocol));
          expect([...bodyTimesOf(recording, linkOf(path))]).toEqual([]);
          // The slowest link takes 24 s for that queue, which is longer than any queue that is expected of an unknown link.
          if (downBps > 1e6) expect([...bodyTimesOf(recording)]).toEqual([]);
        },
      ),
      { numRuns: countRuns(40, 200), seed: 1 },
    );
  });
});
