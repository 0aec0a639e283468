import { type NetworkPath, networkPosterior, type Recording } from '@hopwise/pageload-emulator';
import { describe, expect, it } from 'vitest';
import { handshakesQueued } from '../../src/estimate/handshake-queue.ts';
import { type FetchSketch, pageOf, pathOf, serverOf, uniform } from '../support/pages.ts';
import { recordLoad } from '../support/synthetic-loads.ts';

const ORIGINS = Array.from({ length: 5 }, (_, index) => `https://o${index}.test`);
const BPS = 1e6;
const SLOW = pathOf({ rttMs: 40, downBps: BPS, queueBytes: 15_000 });
const POLICED = pathOf({ rttMs: 40, downBps: 40e6, udp: { kind: 'policed', bps: BPS } });

/** Files of one origin fill the link, while those of others are asked for one after the other. */
function load(path: NetworkPath, seed = 1): Recording {
  const large = Array.from({ length: 6 }, () => ({ origin: 0, bytes: 60_000, after: [0] }));
  const others = Array.from({ length: 12 }, (_, index): FetchSketch => {
    const origin = 1 + (index % 4);
    return { origin, bytes: 5_000 + 1_000 * seed, after: [0], delayMs: 100 + 150 * index };
  });
  const page = pageOf([{ bytes: 30_000 }, ...large, ...others], ORIGINS);
  const servers = ORIGINS.map((origin) => serverOf(origin));
  return recordLoad(page, path, servers, uniform(page, 'h3'), seed);
}

describe('handshakes while responses seem to fill the link', () => {
  it('waited in its queue where it is slow', () => {
    expect(handshakesQueued(load(SLOW), BPS)).toBe(true);
  });

  it('did not where a policer drops what is too much', () => {
    expect(handshakesQueued(load(POLICED), BPS)).toBe(false);
  });

  it('show nothing where the link was idle, or none was made', () => {
    const recording = load(SLOW);
    expect(handshakesQueued(recording, 1e9)).toBeNull();
    const requests = recording.requests.map((request) => {
      const phases = { ...request.phases, connectStartMs: null, secureStartMs: null, connectEndMs: null };
      return { ...request, phases };
    });
    expect(handshakesQueued({ ...recording, requests }, BPS)).toBeNull();
  });
});

it.each([1, 2, 3])('a policer is likely only where handshakes did not wait, load %d', (seed) => {
  const policedShare = (path: NetworkPath) => {
    const recording = load(path, seed);
    return networkPosterior(recording).udp.policed;
  };
  expect(policedShare(POLICED)).toBeGreaterThan(0.85);
  expect(policedShare(SLOW)).toBeLessThan(0.5);
});
