import { SEGMENT_BYTES } from '@hopwise/pageload-emulator';
import { lossBySegment } from '@hopwise/pageload-emulator/econ';
import { describe, expect, test } from 'vitest';
import { objectsLatencyMs } from '../../src/econ/objects-latency.ts';
import { simulateHttp1, simulateHttp2 } from './support/http-oracle.ts';

describe('beside the oracle, without a bottleneck', () => {
  const cases = (['cubic', 'reno'] as const).flatMap((congestionControl) =>
    [1e-3, 1e-2].flatMap((loss) =>
      (
        [
          [10, 7],
          [100, 7],
          [10, 300],
        ] as const
      ).map(([objects, size]) => [congestionControl, loss, objects, size] as const),
    ),
  );

  test.each(cases)('%s, loss %s, %s objects of %s segments', (congestionControl, loss, objects, size) => {
    const network = {
      rttMs: 100,
      downBps: 1e15,
      queueBytes: 1e15,
      loss: () => lossBySegment(loss),
      congestionControl,
      initialWindow: 10,
      handshakeRounds: 2,
    };
    const oracle = { cubic: congestionControl === 'cubic', rttMs: 100, segmentLoss: () => loss };
    const samples = Math.round(Math.min(1_000, 400_000 / (objects * size)));
    for (const [protocol, simulated] of [
      ['h1', simulateHttp1(oracle, objects, size, 200, samples, 11)],
      ['h2', simulateHttp2(oracle, objects, size, samples, 12)],
    ] as const) {
      const pltMs = objectsLatencyMs(protocol, objects, size * SEGMENT_BYTES, network, { trajectories: 128 });
      // 3% for 128 trajectories, and what the simulation's own chance is worth.
      expect(Math.abs(pltMs - simulated.value)).toBeLessThan(
        0.03 * simulated.value + 3 * simulated.standardError,
      );
    }
  });
});
