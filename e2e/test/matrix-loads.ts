/** Loads of a matrix as its tests make them up. */
import type { Recording } from '@hopwise/pageload-emulator';
import type { GroundTruthLoad, GroundTruthMatrix, LoadProtocol } from '../src/truth/ground-truth.ts';

export const network = {
  rttMs: 10,
  downMbps: 100,
  upMbps: 50,
  loss: 0,
  lossBurst: 1,
  queue: { ms: 50 },
  udp: 'open',
} as const;

/** Of one page on one network. */
export const matrix: GroundTruthMatrix = {
  format: 'hopwise-ground-truth',
  version: 1,
  networks: { fast: { title: 'Fibre', network } },
  pages: { app: { source: 'app', requests: 70, origins: 6, bytes: 1_200_000, digest: 'a1' } },
  protocols: ['h1', 'h2', 'h3'],
  views: ['cold'],
  seeds: [1, 2],
  browser: 'Chromium headless shell 156.0.1.2',
  server: { congestionControl: 'cubic', initialWindow: 10, priorities: 'honoured' },
  ipVersion: 4,
  timeoutMs: 120_000,
  machine: { cpu: 'a processor', cores: 2, kernel: '6.1' },
};

/** Of no packet. */
export const noDrops = { queue: 0, loss: 0, udpBlocked: 0, udpPoliced: 0, udpLoss: 0, device: 0 };

/** A recording of nothing. */
export const emptyRecording: Recording = {
  format: 'hopwise-recording',
  version: 1,
  url: 'https://app.test/',
  recordedAt: '2026-01-01T00:00:00Z',
  browser: 'Chromium',
  pltMs: 100,
  domContentLoadedMs: 50,
  firstContentfulPaintMs: 40,
  largestContentfulPaintMs: 60,
  requests: [],
};

export function load(protocol: LoadProtocol, seed: number, pltMs = 100): GroundTruthLoad {
  return {
    format: 'hopwise-load',
    version: 1,
    page: 'app',
    network: 'fast',
    protocol,
    view: 'cold',
    seed,
    at: '2026-01-01T00:00:00.000Z',
    repeated: 0,
    disturbance: { latenessMs: 0.2, foreignCpu: 0 },
    disturbed: false,
    drops: { down: noDrops, up: noDrops },
    outcome: {
      ok: true,
      pltMs,
      fcpMs: null,
      lcpMs: null,
      proved: true,
      failed: [],
      recording: emptyRecording,
    },
  };
}

export const unreachable = (protocol: LoadProtocol, seed: number): GroundTruthLoad => ({
  ...load(protocol, seed),
  outcome: { ok: false, kind: 'unreachable', reason: 'no answer' },
});
