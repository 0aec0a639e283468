import { emulate } from '@hopwise/pageload-emulator';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { uploadTime } from '../../src/transport/upload-time.ts';
import { pageOf, pathOf, serverOf, uniform } from '../support/pages.ts';

/** Taken for a header, which HTTP/2 and 3 compress, up to this size. */
const HEADER_BYTES = 2_000;

it('takes the rounds of slow start until the uplink is full', () => {
  // Flights of 10, 20 and 10 packets, the first two of which wait for an acknowledgement: 2 · 100 ms, and 12 packets of 1.2 ms.
  expect(uploadTime(40 * 1430, 0, 'tcp', 100, 10e6)).toBeCloseTo(2 * 100 + 12 * 1.2, 6);
  // A flight of 10 packets of 12 ms fills an uplink of 1 Mbit/s for longer than a round trip.
  expect(uploadTime(40 * 1430, 0, 'tcp', 100, 1e6)).toBeCloseTo(40 * 12, 6);
  // The window of a connection that sent 20 packets before is 30.
  expect(uploadTime(40 * 1430, 20 * 1430, 'tcp', 100, 10e6)).toBeCloseTo(100 + 11 * 1.2, 6);
  // One flight of 32 packets.
  expect(uploadTime(32 * 1300, 0, 'quic', 100, 10.88e6)).toBeCloseTo(32, 6);
});

it('is what an emulated upload takes longer than a request without a body', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 3_000, max: 300_000 }),
      fc.integer({ min: 5, max: 200 }),
      fc.double({ min: 0.3, max: 50, noNaN: true }),
      fc.constantFrom('h1', 'h2', 'h3'),
      (bytes, rttMs, upMbps, protocol) => {
        const path = pathOf({ rttMs, downBps: 1e9, upBps: upMbps * 1e6 });
        const timeOf = (requestBytes: number) => {
          const page = pageOf([{ bytes: 500 }, { bytes: 500, after: [0], requestBytes }]);
          return emulate(page, path, [serverOf('https://a.test')], uniform(page, protocol)).pltMs;
        };
        const transport = protocol === 'h3' ? 'quic' : 'tcp';
        const expectedMs = uploadTime(bytes, 0, transport, rttMs, path.upBps);
        const tookMs = timeOf(HEADER_BYTES + bytes) - timeOf(HEADER_BYTES);
        // Flights are whole packets, and acknowledgements share the uplink. The header takes a part of the first flight, so that a body which fills
        // the last one may need another.
        expect(tookMs).toBeGreaterThan(0.85 * expectedMs - 2);
        expect(tookMs).toBeLessThan(1.15 * expectedMs + rttMs);
      },
    ),
    { numRuns: 100 },
  );
});
