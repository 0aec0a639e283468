import { describe, expect, it } from 'vitest';
import { emulate } from '../../src/emulate/emulate.ts';
import { changeInWords } from '../../src/explain/server-change-words.ts';
import type { CongestionControl, Protocol, SendingProfile } from '../../src/index.ts';
import { changeServers } from '../../src/network/server-change.ts';
import { pageOf, pathOf, serverOf, uniform } from '../support/pages.ts';

/** The round trip of LTE in "Blitz-starting QUIC connections", at 20 Mbit/s in place of 32. */
const LTE = pathOf({ rttMs: 70, downBps: 20e6, upBps: 10e6, queueBytes: 100_000 });

function flow(bytes: number, protocol: Protocol, sending: Partial<SendingProfile>, path = LTE) {
  const graph = pageOf([{ bytes }]);
  const plain = serverOf(graph.origins[0]!);
  const server = { ...plain, tcp: { ...plain.tcp, ...sending }, quic: { ...plain.quic, ...sending } };
  const { pltMs, origins } = emulate(graph, path, [server], uniform(graph, protocol));
  return { pltMs, drops: origins[0]!.queueDrops };
}

describe('a start at a known bandwidth', () => {
  it.each(['h2', 'h3'] as const)('spares a %s flow slow start', (protocol) => {
    // 500 kB take 200 ms at 20 Mbit/s, and slow start five round trips more over TCP, three over QUIC.
    const without = flow(500_000, protocol, {});
    const informed = flow(500_000, protocol, { startBps: 20e6 });
    expect(without.pltMs - informed.pltMs).toBeGreaterThan(protocol === 'h2' ? 2 * 70 : 60);
    expect(informed.drops).toBe(0);
  });

  it('begins with bandwidth × round trip, paced at the bandwidth', () => {
    // 8 Mbit/s over 100 ms and 1500 bytes: 66.7 packets, 66 of which leave in the first round trip.
    const path = pathOf({ rttMs: 100, downBps: 1e12, upBps: 1e12, queueBytes: 1e12 });
    const { pltMs } = flow(66 * 1_430, 'h2', { startBps: 8e6 }, path);
    // SYN, TLS and request are three round trips; 64 packets more than the first two need 64 · 1.5 ms.
    expect(pltMs).toBeGreaterThan(300 + 92);
    expect(pltMs).toBeLessThan(300 + 100);
  });

  it('loses more the more the estimate exceeds the path', () => {
    const drops = [20e6, 60e6, 200e6].map((startBps) => flow(2e6, 'h2', { startBps }).drops);
    expect(drops[1]).toBeGreaterThan(drops[0]! + 20);
    expect(drops[2]).toBeGreaterThan(drops[1]! + 20);
  });

  it('is slow when the estimate is far too low', () => {
    expect(flow(500_000, 'h2', { startBps: 0.4e6 }).pltMs).toBeGreaterThan(flow(500_000, 'h2', {}).pltMs);
  });
});

describe('Hybla', () => {
  it('compensates for a long round trip, unlike Reno', () => {
    const time = (congestionControl: CongestionControl, rttMs: number) => {
      const path = pathOf({ rttMs, downBps: 20e6, upBps: 10e6, loss: 0.001, queueBytes: 300_000 });
      return flow(10e6, 'h2', { congestionControl }, path).pltMs;
    };
    expect(time('hybla', 25)).toBeCloseTo(time('reno', 25), 6);
    expect(time('hybla', 75)).toBeLessThan(0.7 * time('reno', 75));
  });
});

describe('changed servers', () => {
  it('begin at a rate, or use another congestion control, over both transports', () => {
    const [server] = changeServers(
      [serverOf('https://a.test')],
      { startBps: 5e6, congestionControl: 'hybla' },
      LTE,
    );
    const sending = { startBps: 5e6, congestionControl: 'hybla' };
    expect(server).toMatchObject({
      tcp: { ...sending, initialWindow: 10 },
      quic: { ...sending, initialWindow: 32 },
    });
    expect(changeInWords({ startBps: 5e6, congestionControl: 'hybla' })).toBe(
      'a start at 5 Mbit/s and Hybla',
    );
  });
});
