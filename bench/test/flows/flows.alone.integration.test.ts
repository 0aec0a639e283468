import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { labObstacle } from '@hopwise/lab/client/lab';
import { writeSite } from '@hopwise/lab/sites/write-site';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { measureUntil } from '../../../lab/test/support/attempts.ts';
import { FlowLab, flowSite } from '../../src/flows/flow-lab.ts';
import type { FlowCell, FlowSender } from '../../src/flows/grid.ts';
import { predictFlow } from '../../src/flows/predict-flow.ts';

const obstacle = await labObstacle();

function cellOf(sender: FlowSender, bytes: number): FlowCell {
  const network = {
    rttMs: 80,
    downMbps: 8,
    upMbps: 8,
    loss: 0,
    lossBurst: 1,
    queue: { bytes: 200_000 },
    udp: 'open' as const,
  };
  return { id: sender, half: 'tuning', sender, bytes, initialWindow: 4, network, expectedMs: 1_000 };
}

let dir: string;
let lab: FlowLab;

beforeAll(async () => {
  if (obstacle !== null) return;
  dir = await mkdtemp(join(tmpdir(), 'hopwise-flows-test-'));
  await writeSite({ site: flowSite(), files: new Map() }, join(dir, 'site'));
  lab = await FlowLab.up(join(dir, 'site'), cellOf('cubic', 60_000), AbortSignal.timeout(300_000));
});

afterAll(async () => {
  await lab?.down();
  if (dir) await rm(dir, { recursive: true });
});

it.skipIf(obstacle !== null).each(['cubic', 'bbr', 'quic'] as const)(
  'a flow of %s takes the round trips that its initial window makes of it, and what the emulator says',
  async (sender) => {
    const cell = cellOf(sender, 60_000);
    await lab.prepare(cell);
    const [predictedMs] = predictFlow(cell, [1]).transferMs;
    // A busy machine makes it longer, never shorter.
    const { sentMs, totalMs, drops, packets } = await measureUntil(
      () => lab.measure(cell, 7),
      (flow) => (flow.totalMs - flow.sentMs) / predictedMs! < 1.6,
      8,
    );
    const transferMs = totalMs - sentMs;
    // TCP and TLS take two round trips of 80 ms, QUIC one.
    expect(sentMs).toBeGreaterThan(sender === 'quic' ? 79 : 159);
    expect(drops.loss + drops.queue).toBe(0);
    expect(packets).toBeGreaterThan(60_000 / 1_448);
    // 42 packets: windows of 4, 8, 16 and 14 over TCP are four round trips; QUIC's window is 32.
    expect(transferMs).toBeGreaterThan(sender === 'quic' ? 2 * 80 : 4 * 80 - 1);
    expect(transferMs / predictedMs!).toBeGreaterThan(0.85);
    expect(transferMs / predictedMs!).toBeLessThan(1.6);
  },
);
