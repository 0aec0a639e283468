import { parseRecording, type Recording } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { thinkTimes } from '../../src/graph/think-times.ts';
import { hidesConnections, replayedStarts } from '../../src/recording/hidden-connections.ts';
import { timingsByOrigin } from '../../src/recording/origin-timings.ts';
import { chromiumEntry, type HarTimings, harOf } from '../support/hars.ts';

/** An entry over HTTP/1.1. */
function plainEntry(url: string, startMs: number, timings: HarTimings): object {
  const entry = chromiumEntry(url, startMs, timings, { connection: undefined }) as {
    request: object;
    response: object;
  };
  const httpVersion = 'HTTP/1.1';
  return {
    ...entry,
    request: { ...entry.request, httpVersion },
    response: { ...entry.response, httpVersion, headers: [] },
  };
}

/** A document over plain HTTP, then files that are asked for together: each waits from its start to its response. */
function withoutConnections(waits: readonly number[]): Recording {
  return parseRecording(
    harOf([
      plainEntry('http://a.test/', 0, { wait: 80, receive: 20 }),
      ...waits.map((wait, index) => plainEntry(`http://b.test/${index}.png`, 100, { wait, receive: 10 })),
    ]),
  );
}

describe('a recording without connections', () => {
  it('is one whose requests show no handshake, though they show waits', () => {
    expect(hidesConnections(withoutConnections([60]))).toBe(true);
    const shown = harOf([plainEntry('http://a.test/', 0, { connect: 20, wait: 80, receive: 20 })]);
    expect(hidesConnections(parseRecording(shown))).toBe(false);
  });

  it('had six of them an origin, on which requests waited for each other', () => {
    const recording = withoutConnections([80, 80, 80, 80, 80, 80, 150, 150, 220]);
    const sentMs = replayedStarts(recording, () => 20);
    // The document's connection opens in a round trip of 20.
    expect(sentMs.get(0)).toBe(20);
    // Six connections open, which end their responses at 190; the next two take these, and the last one a third.
    expect([1, 2, 3, 4, 5, 6].map((id) => sentMs.get(id))).toEqual([120, 120, 120, 120, 120, 120]);
    expect([7, 8, 9].map((id) => sentMs.get(id))).toEqual([190, 190, 190]);
  });

  it('may count a millisecond of sending, which rounding left', () => {
    const png = (index: number, send: number) =>
      plainEntry(`http://b.test/${index}.png`, 100, { send, wait: 80 - send, receive: 10 });
    const sends = [1, 0, 1, 0, 1, 0];
    const recording = parseRecording(
      harOf([
        plainEntry('http://a.test/', 0, { send: 1, wait: 79, receive: 20 }),
        ...sends.map((send, index) => png(index, send)),
        plainEntry('http://b.test/6.png', 100, { send: 0, wait: 150, receive: 10 }),
      ]),
    );
    const sentMs = replayedStarts(recording, () => 20);
    expect(sentMs.get(0)).toBe(20);
    expect(sends.map((_, index) => sentMs.get(index + 1))).toEqual([120, 120, 120, 120, 120, 120]);
    expect(sentMs.get(7)).toBe(190);
  });

  it('has round trips of at most half of the first wait, which a handshake is part of', () => {
    const origins = timingsByOrigin(withoutConnections([100, 90]));
    expect(origins.get('http://a.test')!.rttMs).toBe(40);
    expect(origins.get('http://b.test')!.rttMs).toBe(50);
  });

  it('has server times without the waits for a connection', () => {
    const recording = withoutConnections([80, 80, 80, 80, 80, 80, 170, 170, 170]);
    const thinkMs = thinkTimes(recording);
    // The last three waited 90 of their 170 for a connection; what remains is a round trip and variation, as for the others.
    const times = recording.requests.map((request) => thinkMs(request)!);
    expect(Math.max(...times.slice(7))).toBeLessThan(60);
  });
});
