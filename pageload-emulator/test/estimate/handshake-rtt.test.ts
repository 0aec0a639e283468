import { describe, expect, it } from 'vitest';
import { rttFromHandshake } from '../../src/estimate/handshake-rtt.ts';

describe('the round trip from a handshake', () => {
  it.each([20, 60, 200])('over TCP is 0.7 ms shorter than %d ms in the median', (handshakeMs) => {
    expect(handshakeMs - rttFromHandshake(handshakeMs, 'tcp').quantile(0.5)).toBeCloseTo(0.7, 0);
  });

  it('over QUIC is less certain, as the handshake carries several packets', () => {
    const range = (transport: 'tcp' | 'quic') => rttFromHandshake(60, transport).interval;
    // 60 - 4.8 · exp(1.28 · 0.75) = 47.5, 60 - 4.8 · exp(-1.28 · 0.75) = 58.2.
    expect(range('quic').low).toBeCloseTo(47.5, 0);
    expect(Math.abs(range('quic').high - 58.2)).toBeLessThan(1);
    expect(range('tcp').high - range('tcp').low).toBeLessThan(3);
  });

  it('stays positive for handshakes shorter than the usual excess', () => {
    for (const transport of ['tcp', 'quic'] as const) {
      const { low, high } = rttFromHandshake(0.3, transport).interval;
      expect(low).toBeGreaterThan(0.05);
      expect(high).toBeLessThan(0.32);
    }
  });
});
