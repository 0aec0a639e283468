import { parseRecording, predict } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import type { RoundTrip } from '../../src/recording/handshake-trips.ts';
import { timingsByOrigin } from '../../src/recording/origin-timings.ts';
import { pathRoundTrip } from '../../src/recording/path-round-trip.ts';
import { withoutOutliers } from '../../src/recording/round-trip-outliers.ts';
import { chromiumEntry, harOf } from '../support/hars.ts';

let made = 0;

/** Ends long after all that were made before it, unless `endMs` says when. */
function trip(kind: RoundTrip['kind'], rttMs: number, endMs?: number): RoundTrip {
  made += 1;
  return { kind, rttMs, endMs: endMs ?? 10_000 * made, isClipped: false };
}

const times = (trips: RoundTrip[]) => withoutOutliers(trips).map(({ rttMs }) => rttMs);

describe('round trips that disagree', () => {
  it('are waits much shorter than two handshakes that agree', () => {
    expect(times([trip('transport', 60), trip('tls', 66), trip('file', 0.06), trip('file', 65)])).toEqual([
      60, 66, 65,
    ]);
  });

  it('are a handshake much shorter than two others that agree', () => {
    const handshakes = [trip('transport', 1), trip('transport', 60), trip('transport', 64)];
    expect(times([...handshakes, trip('wait', 62)])).toEqual([60, 64, 62]);
  });

  it('stay where a single handshake, or none, contradicts them', () => {
    expect(times([trip('transport', 1_060), trip('wait', 60)])).toEqual([1_060, 60]);
    // The second of a lost SYN's handshakes does not agree with the first.
    expect(times([trip('transport', 60), trip('transport', 1_060), trip('file', 20)])).toEqual([
      60, 1_060, 20,
    ]);
    expect(times([trip('wait', 3), trip('wait', 90)])).toEqual([3, 90]);
    // Two handshakes at once, which wait in the same queue.
    const queued = [trip('tls', 104, 310), trip('tls', 102, 311)];
    expect(times([...queued, trip('file', 31), trip('file', 34)])).toEqual([104, 102, 31, 34]);
    expect(times([...queued, trip('transport', 98, 600), trip('file', 31)])).toEqual([104, 102, 98]);
  });

  it('are waits of less than a millisecond beside a single handshake that took longer: answers were pushed', () => {
    expect(times([trip('transport', 60), trip('file', 0.06), trip('file', 25)])).toEqual([60, 25]);
    // A server on the machine itself.
    expect(times([trip('transport', 0.4), trip('file', 0.3)])).toEqual([0.4, 0.3]);
    expect(times([trip('file', 0.06), trip('file', 25)])).toEqual([0.06, 25]);
  });

  it('are counted in a note', () => {
    const load = (...waits: number[]) =>
      parseRecording(
        harOf([
          chromiumEntry('https://a.test/', 0, { dns: 5, connect: 125, ssl: 64, wait: 65 }),
          ...waits.map((wait, index) => chromiumEntry(`https://a.test/${index}.css`, 220, { wait })),
        ]),
      );
    const sound = predict(load(66, 70, 68));
    const pushed = predict(load(0.06, 70, 68));
    expect(pushed.network.rttMs).toBeCloseTo(sound.network.rttMs, 6);
    expect(sound.notes).toEqual([]);
    expect(pushed.notes).toEqual([
      '1 time to connect or to answer contradicts the handshakes and does not count towards the round trip.',
    ]);
  });
});

describe("the path's round trip", () => {
  const shown = (...entries: object[]) =>
    pathRoundTrip(timingsByOrigin(parseRecording(harOf(entries))).values()).rttMs;
  const far = chromiumEntry('https://far.test/', 0, { dns: 3, connect: 185, ssl: 95, wait: 100 });
  const near = (wait: number, index: number) => chromiumEntry(`https://near.test/${index}`, 400, { wait });

  it('is bounded by waits of an origin without a handshake that agree with each other', () => {
    expect(shown(far, near(12, 0), near(14, 1), near(13, 2))).toBe(12);
    expect(shown(far, near(12, 0))).toBe(90);
  });

  it('is the shortest wait where no request shows a handshake, unless that was for the machine itself', () => {
    expect(shown(near(120, 0), near(14, 1), near(0.4, 2))).toBe(14);
  });
});
