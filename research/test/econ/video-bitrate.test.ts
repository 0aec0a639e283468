import { describe, expect, test } from 'vitest';
import type { FlowConditions } from '../../../pageload-emulator/src/econ/flow-conditions.ts';
import { lossBySegment } from '../../../pageload-emulator/src/econ/loss-by-segment.ts';
import { SEGMENT_BYTES } from '../../../pageload-emulator/src/network/packet.ts';
import { highestBitrate } from '../../src/econ/video-bitrate.ts';

describe('highestBitrate', () => {
  const conditions: FlowConditions = { congestionControl: 'cubic', rttMs: 100, loss: lossBySegment(0) };
  const from = { window: 10 };

  test('finds the largest in time in any order, and none when none is in time', () => {
    // 10, 30 and 31 segments: one, two and three round trips.
    const qualities = [30, 10, 31].map((segments) => ({
      name: `${segments}`,
      bytes: segments * SEGMENT_BYTES,
    }));
    const best = (deadlineMs: number) => highestBitrate(qualities, deadlineMs, conditions, from).best?.name;
    expect([99, 100, 199, 200, 299, 300].map(best)).toEqual([undefined, '10', '10', '30', '30', '31']);
    expect(highestBitrate([], 100, conditions, from)).toEqual({ best: null, representations: [] });
  });
});
