/** Synthetic measured loads, and folders of them, for tests. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Recording } from '@hopwise/pageload-emulator';
import type { LabNetwork } from '../../src/client/networks.ts';
import type {
  GroundTruthLoad,
  GroundTruthMatrix,
  LoadProtocol,
} from '../../src/ground-truth/ground-truth.ts';
import { gzipMember } from '../../src/ground-truth/gzip-members.ts';
import { cellFile } from '../../src/ground-truth/store.ts';
import { recordingOf } from './recordings.ts';

export const NETWORK: LabNetwork = {
  rttMs: 40,
  downMbps: 20,
  upMbps: 5,
  loss: 0,
  lossBurst: 1,
  queue: { ms: 100 },
  udp: 'open',
};

/** A page of a document, a stylesheet and two images, over a round trip of 40 ms. */
export const page: Recording = recordingOf(
  [
    {
      url: 'https://www.page.test/',
      type: 'document',
      startMs: 1,
      endMs: 165,
      bodyBytes: 10_000,
      phases: {
        connectStartMs: 2,
        secureStartMs: 42,
        connectEndMs: 82,
        requestStartMs: 83,
        responseStartMs: 125,
      },
    },
    {
      url: 'https://www.page.test/a.css',
      type: 'style',
      startMs: 170,
      endMs: 215,
      bodyBytes: 8_000,
      by: ['parser', 0],
      phases: { responseStartMs: 212 },
    },
    {
      url: 'https://www.page.test/1.png',
      type: 'image',
      startMs: 172,
      endMs: 300,
      bodyBytes: 90_000,
      by: ['parser', 0],
      phases: { responseStartMs: 216 },
    },
    {
      url: 'https://img.page.test/2.png',
      type: 'image',
      startMs: 173,
      endMs: 380,
      bodyBytes: 60_000,
      by: ['parser', 0],
      phases: {
        connectStartMs: 173,
        secureStartMs: 213,
        connectEndMs: 256,
        requestStartMs: 256,
        responseStartMs: 298,
      },
    },
  ],
  400,
);

/** No dropped packets. */
export const noDrops = { queue: 0, loss: 0, udpBlocked: 0, udpPoliced: 0, udpLoss: 0, device: 0 };

/** A recording without requests. */
export const emptyRecording: Recording = { ...page, requests: [] };

export function loadOf(
  protocol: LoadProtocol,
  seed: number,
  pltMs: number,
  more: Partial<GroundTruthLoad> = {},
  recording: Recording = { ...page, pltMs },
): GroundTruthLoad {
  return {
    format: 'hopwise-measured-load',
    version: 1,
    page: 'page',
    network: 'net',
    protocol,
    view: 'cold',
    seed,
    at: '2026-01-01T00:00:00.000Z',
    repeated: 0,
    disturbed: false,
    disturbance: { latenessMs: 0.2, foreignCpu: 0 },
    drops: { down: noDrops, up: noDrops },
    outcome: {
      ok: true,
      pltMs,
      fcpMs: null,
      lcpMs: null,
      proved: true,
      failed: [],
      recording,
    },
    ...more,
  };
}

export const failedLoad = (protocol: LoadProtocol, seed: number): GroundTruthLoad =>
  loadOf(protocol, seed, 0, { outcome: { ok: false, kind: 'unreachable', reason: 'no answer' } });

/** A load of the page and the network of `matrix`, with an empty recording. */
export const load = (protocol: LoadProtocol, seed: number, pltMs = 100): GroundTruthLoad =>
  loadOf(protocol, seed, pltMs, { page: 'app', network: 'fast' }, emptyRecording);

export const unreachable = (protocol: LoadProtocol, seed: number): GroundTruthLoad => ({
  ...load(protocol, seed),
  outcome: { ok: false, kind: 'unreachable', reason: 'no answer' },
});

export const network = {
  rttMs: 10,
  downMbps: 100,
  upMbps: 50,
  loss: 0,
  lossBurst: 1,
  queue: { ms: 50 },
  udp: 'open',
} as const satisfies LabNetwork;

/** A matrix of one page on one network. */
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

/** Writes a folder of loads of one page on `NETWORK`, unless changed, in the lab's form. */
export async function writeFolder(
  dir: string,
  loads: GroundTruthLoad[],
  change: Partial<GroundTruthMatrix> = {},
): Promise<void> {
  await mkdir(join(dir, 'loads'), { recursive: true });
  const whole: GroundTruthMatrix = {
    ...matrix,
    networks: { net: { title: 'Net', network: NETWORK } },
    pages: { page: { source: 'shop', requests: 4, origins: 2, bytes: 168_000, digest: '0' } },
    protocols: ['h1', 'h2', 'h3', 'natural'],
    ...change,
  };
  await writeFile(join(dir, 'matrix.json'), JSON.stringify(whole));
  const files = new Map<string, Buffer[]>();
  for (const load of loads) {
    const file = cellFile(load.page, load.network);
    files.set(file, [...(files.get(file) ?? []), gzipMember(`${JSON.stringify(load)}\n`)]);
  }
  for (const [file, members] of files) await writeFile(join(dir, 'loads', file), Buffer.concat(members));
}

/** Three loads of each protocol; h3 is the fastest, by a quarter. */
export function wholeCell(): GroundTruthLoad[] {
  return [1, 2, 3].flatMap((seed) => [
    loadOf('h1', seed, 500 + seed),
    loadOf('h2', seed, 400 + seed),
    loadOf('h3', seed, 320 + seed),
    loadOf('natural', seed, 410 + seed),
  ]);
}
