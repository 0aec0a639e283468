import { parseRecording, type Recording } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { estimateNetwork } from '../../src/estimate/estimate-network.ts';
import { extraRtts } from '../../src/estimate/extra-rtts.ts';
import { timingsByOrigin } from '../../src/recording/origin-timings.ts';
import { chromiumEntry, harOf } from '../support/hars.ts';

const PAGE = 'https://a.test/';
const FAR = 'https://far.test/';

/** A document that shows a round trip of 50, then requests to another origin. */
function load(...others: object[]): Recording {
  return parseRecording(
    harOf([chromiumEntry(PAGE, 0, { dns: 5, connect: 105, ssl: 55, wait: 60 }), ...others]),
  );
}

const trips = (recording: Recording, origin = 'https://far.test') =>
  timingsByOrigin(recording)
    .get(origin)!
    .roundTrips.map(({ kind, rttMs }) => [kind, rttMs]);

describe('round trips of an origin', () => {
  it('come from TCP, TLS and waits', () => {
    // 5 to 55 TCP, to 110 TLS, to 170 the wait.
    expect(trips(load(), 'https://a.test')).toEqual([
      ['transport', 50],
      ['tls', 55],
      ['wait', 60],
    ]);
  });

  it('of a navigation make up for the little that was cut off before its request', () => {
    const navigation = (entry: Record<string, number>) =>
      trips(parseRecording(harOf([chromiumEntry(PAGE, 0, entry)])), 'https://a.test')[0];
    // TCP took 46 after the request, TLS 55 with 5 for the keys.
    expect(navigation({ connect: 101, ssl: 55, wait: 60 })).toEqual(['transport', 50]);
    expect(navigation({ dns: 3, connect: 101, ssl: 55, wait: 60 })).toEqual(['transport', 46]);
    // TLS 1.2 takes two round trips.
    expect(navigation({ connect: 150, ssl: 100, wait: 60 })).toEqual(['transport', 50]);
  });

  it('of a navigation make up for more where other connections show how much longer TLS takes', () => {
    const others = ['b', 'c'].map((name) =>
      chromiumEntry(`https://${name}.test/`, 200, { dns: 3, connect: 125, ssl: 65, wait: 70 }),
    );
    const navigation = (connect: number, ...more: object[]) =>
      trips(
        parseRecording(harOf([chromiumEntry(PAGE, 0, { connect, ssl: 55, wait: 60 }), ...more])),
        'https://a.test',
      );
    expect(navigation(93)[0]).toEqual(['transport', 38]);
    // TLS takes 5 more than TCP there.
    expect(navigation(93, ...others)[0]).toEqual(['transport', 50]);
    // What is left of TCP says nothing.
    expect(navigation(70, ...others)).toEqual([
      ['tls', 55],
      ['wait', 60],
    ]);
  });

  it('leave out the part of a TCP handshake that a request saw of a connection under way', () => {
    // A request that joins a preconnect sees the last 20 of TCP's 90.
    const joined = chromiumEntry(FAR, 200, { connect: 115, ssl: 95, wait: 100 });
    expect(trips(load(joined))).toEqual([
      ['tls', 95],
      ['wait', 100],
    ]);
  });

  it('leave out TLS that a request saw in part', () => {
    const joined = chromiumEntry(FAR, 200, { connect: 40, ssl: 40, wait: 100 });
    expect(trips(load(joined))).toEqual([['wait', 100]]);
  });

  it('include TCP after a resolution, however long TLS took', () => {
    const resolved = chromiumEntry(FAR, 200, { dns: 3, connect: 290, ssl: 200, wait: 100 });
    expect(trips(load(resolved))).toContainEqual(['transport', 90]);
  });

  it('of later connections count only with what came before them', () => {
    const first = chromiumEntry(FAR, 200, { dns: 3, connect: 185, ssl: 95, wait: 100 });
    // The same lengths without a resolution: the connection may have been opened for another request.
    const second = chromiumEntry(`${FAR}b`, 201, { connect: 180, ssl: 95, wait: 101 });
    const shown = trips(load(first, second));
    expect(shown.filter(([kind]) => kind === 'transport')).toEqual([['transport', 90]]);
    expect(shown.filter(([kind]) => kind === 'tls')).toHaveLength(2);
  });

  it('of QUIC are one for transport and TLS together, unless shorter than half of the shortest wait', () => {
    const h3 = (connect: number) => {
      const entry = chromiumEntry(FAR, 200, { connect, wait: 100 }) as { response: object };
      return { ...entry, response: { ...entry.response, httpVersion: 'h3' } };
    };
    expect(trips(load(h3(95)))).toEqual([
      ['transport', 95],
      ['wait', 100],
    ]);
    expect(trips(load(h3(45)))).toEqual([['wait', 100]]);
  });
});

describe('the round trip of an origin beyond the path', () => {
  const extraOf = (recording: Recording, queuedMs: () => number) =>
    extraRtts([...timingsByOrigin(recording).values()], 50, queuedMs);
  const far = chromiumEntry(FAR, 200, { dns: 3, connect: 185, ssl: 95, wait: 100 });

  it('is that of the shortest handshake on a quiet link', () => {
    expect(extraOf(load(far), () => 0)).toEqual([0, expect.closeTo(40, 6)]);
  });

  it('is between the handshake less possible queueing and the shortest round trip', () => {
    // 90 less 30 is 60: 10 to 40 beyond the path. P(extra > x) = 30 / (30 + x): 0.75 and 0.4286, their mean 0.5893;
    // 30 / 0.5893 - 30 = 20.909
    expect(extraOf(load(far), () => 30)[1]).toBeCloseTo(20.909, 3);
  });

  it('takes queueing into account where the rate of the link is known', () => {
    const files = Array.from({ length: 5 }, (_, number) =>
      chromiumEntry(`${PAGE}${number}`, 180, { wait: 60, receive: 200 }),
    );
    const recording = load(...files, far);
    const { servers, serversOn } = estimateNetwork(recording);
    // The page does not fill any link.
    expect(servers[1]!.extraRttMs).toBeCloseTo(40, 6);
    // During either handshake 0.5 Mbit/s has more to send than fits into it: 0 to 40 beyond the path.
    // (1 + 30 / 70) / 2 = 0.7143; 30 / 0.7143 - 30 = 12
    expect(serversOn(0.5e6)[1]!.extraRttMs).toBeCloseTo(12, 3);
  });

  it('is not lost where a request joined a preconnect', () => {
    // TLS of 95, with up to 10 for the key exchange, bounds it to 35 to 45: (30 / 65 + 0.4) / 2 = 0.4308; 30 / 0.4308 - 30 = 39.643
    const joined = chromiumEntry(FAR, 200, { connect: 115, ssl: 95, wait: 100 });
    expect(extraOf(load(joined), () => 0)[1]).toBeCloseTo(39.643, 3);
  });

  it('is bounded from above only by the waits of an origin that shows no handshake', () => {
    const wait = (type: string) => chromiumEntry(FAR, 200, { wait: 120 }, { _resourceType: type });
    // The server may have taken any part of it: 0 to 70. (1 + 0.3) / 2 = 0.65; 30 / 0.65 - 30 = 16.154
    for (const type of ['script', 'fetch'])
      expect(extraOf(load(wait(type)), () => 0)[1]).toBeCloseTo(16.154, 3);
  });

  it('is the median of the others for an origin that shows no round trip', () => {
    const cached = chromiumEntry('https://b.test/', 300, {}, { _fromCache: 'memory' });
    expect(extraOf(load(far, cached), () => 0)[2]).toBeCloseTo(20, 6);
  });
});
