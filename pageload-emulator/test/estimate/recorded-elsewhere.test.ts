import {
  estimateNetwork,
  type KnownNetwork,
  parseRecording,
  predict,
  type Recording,
} from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { isRecordedElsewhere } from '../../src/estimate/recorded-elsewhere.ts';
import { chromiumEntry, harOf } from '../support/hars.ts';

/** Its handshake over HTTP/2 takes 100 ms: round trips of 50 ms. */
function loadOver(httpVersion: string) {
  const timings = { dns: 1, connect: 100, ssl: 50, wait: 60, receive: 10 };
  const document = chromiumEntry('https://a.test/', 0, timings, {
    _resourceType: 'document',
    ...(httpVersion === 'h3' && { response: { status: 200, httpVersion, headers: [], content: {} } }),
  });
  return parseRecording(harOf([document], { onLoad: 200 }));
}

const isElsewhere = (recording: Recording, given: KnownNetwork) =>
  isRecordedElsewhere(recording, estimateNetwork(recording), given);

describe('a load is of another network', () => {
  const recording = loadOver('h2');
  it.each<[KnownNetwork, boolean]>([
    [{}, false],
    [{ rttMs: 50 }, false],
    // 50 / 0.9 = 55.6: no handshake is shorter than the round trip.
    [{ rttMs: 55 }, false],
    [{ rttMs: 57 }, true],
    // 50 / 2.2 = 22.7, and 50 - 22 = 28 ms may be a busy processor; 50 - 19 = 31 may not.
    [{ rttMs: 22 }, false],
    [{ rttMs: 19 }, true],
    [{ udp: { kind: 'blocked' } }, false],
  ])('than %j: %s', (given, expected) => {
    expect(isElsewhere(recording, given)).toBe(expected);
  });

  it('if it used HTTP/3 and UDP is blocked there', () => {
    expect(isElsewhere(loadOver('h3'), { udp: { kind: 'blocked' } })).toBe(true);
  });
});

describe('the recorded load time', () => {
  const recording = loadOver('h2');
  const baselineOn = (rttMs: number, knowledge?: { isOtherNetwork: boolean }) =>
    predict(recording, {
      network: { rttMs, downBps: 20e6, loss: 0, udp: { kind: 'open' } },
      ...(knowledge && { knowledge }),
    }).decision.baseline;

  it('is evidence on its own network', () => {
    expect(baselineOn(50)).toEqual(baselineOn(50, { isOtherNetwork: false }));
    expect(baselineOn(50)).not.toEqual(baselineOn(50, { isOtherNetwork: true }));
  });

  it('is none on another one', () => {
    // DNS, TCP, TLS 1.3 and the request take a round trip each on a first visit.
    expect(baselineOn(600).pltMs).toBeGreaterThan(3 * 600);
    expect(baselineOn(600)).toEqual(baselineOn(600, { isOtherNetwork: true }));
  });
});
