import { emulate, estimateNetwork, parseRecording, readRecording } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { handshakeOf } from '../../src/transport/handshake.ts';
import { chromiumEntry, type HarTimings, harOf } from '../support/hars.ts';
import { pageOf, pathOf, serverOf } from '../support/pages.ts';

/** A document and files of three origins, each on a connection of its own. @param ofLast phases of the last origin in place of the others' */
function load(opening: HarTimings, waitMs: number, ofLast: HarTimings = {}): object {
  const first = { dns: 1, ...opening, wait: waitMs };
  const entries = [
    chromiumEntry('https://a.test/', 0, first, { _resourceType: 'document', _connectionId: 'a' }),
    ...['a', 'b', 'c'].flatMap((name) =>
      [0, 1, 2, 3, 4, 5].map((index) =>
        chromiumEntry(
          `https://${name}.test/${index}.png`,
          600,
          index > 0 || name === 'a'
            ? { wait: name === 'c' ? (ofLast.wait ?? waitMs) : waitMs }
            : { ...first, ...(name === 'c' ? ofLast : {}) },
          { _resourceType: 'image', _connectionId: name },
        ),
      ),
    ),
  ];
  return harOf(entries, { onLoad: 1_200, onContentLoad: 700 });
}

const read = (har: object) => {
  const { path, servers } = estimateNetwork(parseRecording(har));
  const nearby = servers.filter((server) => server.tcpEndsNearby === true);
  return { rttMs: Math.round(path.rttMs), nearby: nearby.map(({ origin }) => origin.slice(8, 9)).join('') };
};

describe('TCP that ends near by', () => {
  // 181 − 180
  const TUNNEL = { connect: 181, ssl: 180 };
  // Without its name's resolution, and most of TCP.
  const PRECONNECTED = { dns: -1, connect: 51, ssl: 50 };

  it('shows no round trip: TLS and answers, which go through to the server, do', () => {
    expect(read(load(TUNNEL, 178))).toEqual({ rttMs: 178, nearby: 'abc' });
    expect(readRecording(load(TUNNEL, 178)).notes.join()).not.toContain('throttling');
  });

  it.each([
    ['TLS takes as long as TCP', load({ connect: 100, ssl: 50 }, 178), 50],
    ['TLS takes its processor time', load({ connect: 12, ssl: 10 }, 178), 2],
    ['an answer came sooner than TLS, which a scanner held up', load(TUNNEL, 3), 1],
    ['a connection may have been under way', load({ connect: 100, ssl: 50 }, 52, PRECONNECTED), 50],
    ['servers work for longer than TLS takes', load({ connect: 45, ssl: 40 }, 178), 5],
  ])('is not where %s', (_, har, rttMs) => {
    expect(read(har)).toEqual({ rttMs, nearby: '' });
  });

  it('is found origin by origin: a tunnel may leave some out', () => {
    const direct = { connect: 100, ssl: 50, wait: 52 };
    expect(read(load(TUNNEL, 178, direct))).toEqual({ rttMs: 50, nearby: 'ab' });
  });

  it('costs no round trip under TCP, and QUIC still takes its own', () => {
    expect(handshakeOf('h2', '1.3', { tcpEndsNearby: true }).rounds).toHaveLength(1);
    expect(handshakeOf('h1', null, { tcpEndsNearby: true })).toEqual({ rounds: [], requestsAfter: 0 });
    expect(handshakeOf('h3', '1.3', { tcpEndsNearby: true })).toEqual(handshakeOf('h3', '1.3'));
    const page = pageOf([{ bytes: 1_000 }], ['https://a.test']);
    const path = pathOf({ rttMs: 100, downBps: 1e9 });
    const timeOf = (tcpEndsNearby: boolean, protocol: 'h1' | 'h2' | 'h3') => {
      const server = { ...serverOf('https://a.test'), tcpEndsNearby };
      return emulate(page, path, [server], { 'https://a.test': protocol }).pltMs;
    };
    expect(timeOf(false, 'h2') - timeOf(true, 'h2')).toBeCloseTo(100, 0);
    expect(timeOf(false, 'h3')).toBe(timeOf(true, 'h3'));
  });
});
